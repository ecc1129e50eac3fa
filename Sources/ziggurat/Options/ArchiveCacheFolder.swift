import Foundation
import Glibc
import ZigguratFiles

/// The folder in which `serve --build` keeps the archives of a folder of pictures, so that the next start finds them.
enum ArchiveCacheFolder {
  /// Returns a folder of the user's caches (XDG Base Directory 0.8), named after the pictures' folder and its real
  /// path.
  ///
  /// - Parameter environment: the environment of the process.
  /// - Returns: nil if neither XDG_CACHE_HOME nor HOME states where caches are.
  static func path(of pictures: String, _ environment: [String: String]) -> String? {
    // A path that is not absolute must be ignored.
    let named = environment["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.cache" : nil }
    guard let caches = named ?? home else { return nil }
    guard let buffer = realpath(pictures, nil) else { return nil }
    defer { free(buffer) }
    let real = String(cString: buffer)
    let digest = Digest.of(UnsafeRawBufferPointer(start: buffer, count: strlen(buffer)))
    let name = real.split(separator: "/").last.map(String.init) ?? "root"
    let hexadecimal = String(digest, radix: 16)
    let zeros = String(repeating: "0", count: 16 - hexadecimal.count)
    // The name is cut to leave room for the digest in a file name.
    return
      "\(caches)/ziggurat/\(String(decoding: name.utf8.prefix(200), as: UTF8.self))-\(zeros)\(hexadecimal)"
  }

  /// Creates the folder, readable for its user alone: the pictures may be private.
  static func make(_ path: String) throws(StorageError) {
    try FolderTree.make(parentFolder(parentFolder(path)))
    for folder in [parentFolder(path), path] {
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
        throw StorageError("make the folder \(folder)", errno: errno)
      }
    }
  }
}
