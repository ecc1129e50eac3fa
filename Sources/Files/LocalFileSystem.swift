import ZigguratCFileSystems

/// File systems of which it is known that they are this machine's alone: what happens to a file, who has it open and
/// who may lease it, the kernel knows without asking a server.
enum LocalFileSystem {
  /// By their magic numbers (statfs(2)).
  private static let kinds: Set<Int> = [
    Int(EXT4_SUPER_MAGIC), Int(XFS_SUPER_MAGIC), Int(BTRFS_SUPER_MAGIC), Int(TMPFS_MAGIC),
    Int(OVERLAYFS_SUPER_MAGIC), Int(F2FS_SUPER_MAGIC),
  ]

  /// Whether the file or folder is on one.
  static func holds(_ path: String) -> Bool {
    var status = statfs()
    return statfs(path, &status) == 0 && kinds.contains(Int(status.f_type))
  }

  /// Whether the open file is on one.
  static func holds(_ descriptor: Int32) -> Bool {
    var status = statfs()
    return fstatfs(descriptor, &status) == 0 && kinds.contains(Int(status.f_type))
  }
}

/// Mounts of file systems.
package enum Mount {
  /// Returns the kernel's number of the mount that an open file or folder is on, which differs between two mounts of
  /// one file system; 0 if the kernel does not report it.
  package static func number(of descriptor: Int32) -> UInt64 { ziggurat_mount(descriptor) }
}
