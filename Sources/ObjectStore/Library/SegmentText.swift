import TileStorage
import ZigguratFiles

/// The text of a segment of a directory, in a file: of a large library it is far more than what is asked of it again.
final class SegmentText: Sendable {
  /// The file of the text; nil if the text is empty.
  private let file: TemporaryFile?
  let count: Int

  /// - Parameter file: of so many bytes.
  init(_ file: TemporaryFile, count: Int) {
    self.file = file
    self.count = count
  }

  private init() { (file, count) = (nil, 0) }

  /// Without a byte.
  static let nothing = SegmentText()

  /// Returns a part of the text; nil if it cannot be read.
  func bytes(_ range: Range<Int>) -> [UInt8]? {
    guard range.lowerBound >= 0, range.upperBound <= count else { return nil }
    return range.isEmpty ? [] : file?.bytes(range)
  }
}
