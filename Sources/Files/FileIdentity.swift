package import Glibc

/// What changes when a file is replaced or rewritten.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64
  package let size: Int
  package let modifiedNanoseconds: Int

  /// Nil where there is no such file.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// Of what is no file: numbers that are others when it is another version.
  package init(inode: UInt64, size: Int, modifiedNanoseconds: Int) {
    device = 0
    self.inode = inode
    self.size = size
    self.modifiedNanoseconds = modifiedNanoseconds
  }

  package init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int(status.st_size)
    modifiedNanoseconds = status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
  }
}
