package import Glibc

extension dirent {
  /// The entry's name, or nil where its bytes are no UTF-8.
  package var name: String? {
    withUnsafePointer(to: d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
    }
  }

  /// `.` and `..` among them.
  package var isFolder: Bool { d_type == UInt8(DT_DIR) }
}
