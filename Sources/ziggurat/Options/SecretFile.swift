import Glibc
import ZigguratFiles
import ZigguratTileServing

/// Secrets in files of one line, so that neither the list of processes nor the environment shows them.
enum SecretFile {
  /// Returns the first line of a file, up to 299 bytes.
  static func line(_ path: String) throws(UsageError) -> String {
    guard let file = fopen(path, "re") else {
      throw .cannot("read \(path)", String(cString: strerror(errno)).lowercased())
    }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 300)
    _ = fgets(&line, Int32(line.count), file)
    let bytes = line.prefix { $0 != 0 && $0 != 10 && $0 != 13 }.map { UInt8(bitPattern: $0) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether users who are neither the owner nor in the group can read a file.
  static func isOpenToAll(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IROTH != 0
  }

  static let pdfPasswordOption = Option(
    "pdf-password-file", "FILE", help: "File whose first line is the password of encrypted PDFs")

  /// Returns the password of `--pdf-password-file`; nil without that option.
  static func pdfPassword(_ arguments: Arguments) throws(UsageError) -> String? {
    guard let path = arguments.string("pdf-password-file") else { return nil }
    let password = try line(path)
    guard !password.isEmpty else {
      throw .cannot("read a password", "the first line of \(path) is empty")
    }
    return password
  }

  /// Returns the key that servers share with the caches in front of them, from a file in the library's folder. The
  /// first server creates the file.
  static func edgeKey(library: String) throws(UsageError) -> PurgeKey {
    let file = "\(library)/.ziggurat-edge-key"
    if access(file, F_OK) != 0 {
      do throws(StorageError) { try makeEdgeKey(file, library: library) } catch {
        throw .outside("--purge-key-file is required", error.description)
      }
    }
    return try edgeKey(file)
  }

  /// Returns the key of `--purge-key-file`.
  static func edgeKey(_ file: String) throws(UsageError) -> PurgeKey {
    guard let key = PurgeKey(try line(file)) else {
      throw .cannot(
        "use \(file)",
        "invalid key (expected 64 lowercase hexadecimal digits, as 'openssl rand -hex 32' prints)")
    }
    return key
  }

  /// Returns the token of `--token-file`.
  static func token(_ path: String) throws(UsageError) -> AccessToken {
    guard let token = AccessToken(try line(path)) else {
      throw .cannot(
        "use \(path)", "invalid token in its first line (expected 16 to 256 characters without spaces)")
    }
    return token
  }

  private static func makeEdgeKey(_ file: String, library: String) throws(StorageError) {
    // Servers that start at the same time wait for each other: the first one creates the key.
    let lock = try DirectoryLock(library)
    defer { withExtendedLifetime(lock) {} }
    if access(file, F_OK) == 0 { return }
    let new = try AtomicFile(destination: file)
    try new.write(Array((PurgeKey.make().text + "\n").utf8))
    try new.publish(mode: 0o600)
    try lock.synchronize()
  }
}
