import Glibc

/// The permissions that the process's user removes from new files (`umask`).
///
/// `umask(2)` returns them only by changing them, for every thread: a file that another thread creates meanwhile is
/// open to everybody. The kernel also states them in `/proc/self/status`.
package enum Umask {
  /// The mask at the time of the first access. If the kernel does not state it, others get no permissions.
  package static let value: UInt32 = read() ?? 0o077

  private static func read() -> UInt32? {
    let descriptor = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // It is the second line; the whole file has some 1,500 bytes.
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return mask(inStatus: String(decoding: bytes[..<count], as: UTF8.self))
  }

  /// Returns the mask in the text of a `status` file (proc_pid_status(5)), or nil if the text contains none.
  package static func mask(inStatus text: String) -> UInt32? {
    let name = "Umask:"
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return nil }
    return UInt32(line.dropFirst(name.count).drop { $0 == "\t" || $0 == " " }, radix: 8)
  }
}
