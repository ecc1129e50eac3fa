import Glibc
import ZigguratFiles

/// Reads the lines of a file one after the other, without line ends.
///
/// Use it on one thread at a time.
final class LineReader {
  /// Maximum bytes of a line; no writer exceeds it.
  static let maxLength = InputLimit.planLine.bytes

  private let path: String
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var rest = 0..<0
  /// The number of the line that was returned last, from 1.
  private(set) var number = 0
  /// Whether the last line was given to its end: a writer that was killed may have left half of one, and one that is
  /// too long is cut.
  private(set) var isWhole = true

  /// - Parameter path: `-` is standard input.
  init(path: String) throws(StorageError) {
    self.path = path
    descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StorageError("read \(path)", errno: errno) }
  }

  deinit { close(descriptor) }

  /// Returns the next line; nil at the end of the file.
  func next() throws(StorageError) -> [UInt8]? {
    var line: [UInt8] = []
    var isTooLong = false
    while true {
      if rest.isEmpty, try !fill() {
        guard !line.isEmpty || isTooLong else { return nil }
        number += 1
        isWhole = false
        return line
      }
      let end = buffer[rest].firstIndex(of: UInt8(ascii: "\n"))
      let part = rest.lowerBound..<(end ?? rest.upperBound)
      isTooLong = isTooLong || line.count + part.count > Self.maxLength
      if !isTooLong { line += buffer[part] }
      rest = (end.map { $0 + 1 } ?? rest.upperBound)..<rest.upperBound
      guard end != nil else { continue }
      number += 1
      isWhole = !isTooLong
      return line
    }
  }

  /// False at the end of the file.
  private func fill() throws(StorageError) -> Bool {
    if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: 1 << 16) }
    while true {
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw StorageError("read \(path)", errno: errno) }
      rest = 0..<count
      return count > 0
    }
  }
}
