import TileStorage
import ZigguratFiles

/// The text of a segment of an index, in a file. For a large library it is far more than is read again.
final class SegmentText: Sendable {
  /// The file of the text; nil if the text is empty.
  private let file: TemporaryFile?
  let count: Int

  /// - Parameter file: a file with `count` bytes.
  init(_ file: TemporaryFile, count: Int) {
    self.file = file
    self.count = count
  }

  private init() { (file, count) = (nil, 0) }

  /// The empty text.
  static let nothing = SegmentText()

  /// Returns a part of the text; nil if it cannot be read.
  func bytes(_ range: Range<Int>) -> [UInt8]? {
    guard range.lowerBound >= 0, range.upperBound <= count else { return nil }
    return range.isEmpty ? [] : file?.bytes(range)
  }
}
