import ZigguratCFileSystems

/// File systems that are known to belong to this machine alone. The kernel knows all changes of a file, its openers and
/// its leases without asking a server.
enum LocalFileSystem {
  /// The magic numbers of these file systems (statfs(2)).
  private static let kinds: Set<Int> = [
    Int(EXT4_SUPER_MAGIC), Int(XFS_SUPER_MAGIC), Int(BTRFS_SUPER_MAGIC), Int(TMPFS_MAGIC),
    Int(OVERLAYFS_SUPER_MAGIC), Int(F2FS_SUPER_MAGIC),
  ]

  /// Whether the file or folder is on such a file system.
  static func holds(_ path: String) -> Bool {
    var status = statfs()
    return statfs(path, &status) == 0 && kinds.contains(Int(status.f_type))
  }

  /// Whether the open file is on such a file system.
  static func holds(_ descriptor: Int32) -> Bool {
    var status = statfs()
    return fstatfs(descriptor, &status) == 0 && kinds.contains(Int(status.f_type))
  }
}

/// Mounts of file systems.
package enum Mount {
  /// Returns the kernel's number of the mount of an open file or folder. It differs between two mounts of one file
  /// system. It is 0 if the kernel does not report it.
  package static func number(of descriptor: Int32) -> UInt64 { ziggurat_mount(descriptor) }
}
