package import Glibc

/// The identity of a file's version: it changes when the file is replaced or rewritten.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64
  package let size: Int
  package let modifiedNanoseconds: Int

  /// Reads the identity of a file; nil if it does not exist.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// Creates an identity for other data than a file, from numbers that differ between versions.
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
