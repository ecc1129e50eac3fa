import Glibc

/// The state of a file at a time. It differs after the file was written to or replaced.
package struct FileVersion: Equatable, Sendable {
  private let path: String
  private let numbers: [Int]

  /// `nil` if there is no such file.
  package init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.path = path
    numbers = [
      Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino), status.st_size,
      status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
    ]
  }
}
