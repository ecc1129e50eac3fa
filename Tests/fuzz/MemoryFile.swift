import Glibc

/// A file for inputs that are opened by name. It is removed with the process.
final class MemoryFile {
  nonisolated(unsafe) static let shared = MemoryFile()  // libFuzzer calls from one thread.

  private let path: String
  private let descriptor: Int32

  private init() {
    var template = Array("/tmp/reader-fuzz-XXXXXX".utf8CString)
    descriptor = mkstemp(&template)
    precondition(descriptor >= 0, "a file for inputs")
    unlink(template)
    path = "/proc/self/fd/\(descriptor)"
  }

  /// Writes the bytes to the file and returns its path.
  func filled(with bytes: [UInt8]) -> String {
    let isWritten = ftruncate(descriptor, 0) == 0 && pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
    precondition(isWritten, "an input can be written")
    return path
  }
}
