import Files
import Glibc

/// The lines of a file one after the other, without what ends them.
///
/// Not for several threads at a time.
final class TextLines {
  /// Bytes of a line; nobody writes longer ones.
  static let longest = 1 << 20

  private let path: String
  private let file: UnsafeMutablePointer<FILE>
  private var buffer: UnsafeMutablePointer<CChar>?
  private var capacity = 0
  /// Of the line that was given last, from 1.
  private(set) var number = 0
  /// Whether the last line had its end; a writer that was killed may have left half of one.
  private(set) var isWhole = true

  /// - Parameter path: `-` is standard input.
  init(path: String) throws(StorageError) {
    self.path = path
    let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0, let file = fdopen(descriptor, "r") else {
      throw StorageError("read \(path)", errno: errno)
    }
    self.file = file
  }

  deinit {
    free(buffer)
    fclose(file)
  }

  /// Nil at the end of the file.
  func next() throws(StorageError) -> [UInt8]? {
    errno = 0
    let count = getline(&buffer, &capacity, file)
    guard count >= 0, let buffer else {
      guard ferror(file) == 0 else { throw StorageError("read \(path)", errno: errno) }
      return nil
    }
    number += 1
    guard count <= Self.longest else { throw StorageError("read \(path)", "its line \(number) is too long") }
    var line = Array(UnsafeRawBufferPointer(start: buffer, count: count))
    isWhole = line.last == UInt8(ascii: "\n")
    if isWhole { line.removeLast() }
    return line
  }
}
