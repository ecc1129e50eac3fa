package import Glibc

extension dirent {
  /// The entry's name, or nil if its bytes are not UTF-8.
  package var name: String? {
    withUnsafePointer(to: d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
    }
  }

  /// The entry's name for a message: bytes that are not UTF-8 are written as `\xFF`.
  package var shownName: String {
    let bytes = withUnsafeBytes(of: d_name) { Array($0.prefix { $0 != 0 }) }
    var (text, rest) = ("", bytes[...])
    while let byte = rest.first {
      let length = (1...4).first { count in
        count <= rest.count && String(validating: rest.prefix(count), as: UTF8.self) != nil
      }
      guard let length else {
        text += "\\x" + String(byte, radix: 16, uppercase: true)
        rest.removeFirst()
        continue
      }
      text += String(decoding: rest.prefix(length), as: UTF8.self)
      rest.removeFirst(length)
    }
    return text
  }

  /// Whether the entry is a folder; true also for `.` and `..`.
  package var isFolder: Bool { d_type == UInt8(DT_DIR) }
}
