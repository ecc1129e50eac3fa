import Foundation
import Glibc
import ZigguratFiles

/// Where `serve --build` keeps the archives of a folder of pictures, so that the next start finds them.
enum PictureCache {
  /// A folder of the user's caches (XDG Base Directory 0.8), named by what the pictures' folder is called and where it
  /// really is.
  ///
  /// - Parameter environment: of the process.
  /// - Returns: nil where neither XDG_CACHE_HOME nor HOME says where caches are.
  static func path(of pictures: String, _ environment: [String: String]) -> String? {
    // A path that is not absolute is to be passed over.
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
    // A name that leaves room for the digest in what a file may be called.
    return
      "\(caches)/ziggurat/\(String(decoding: name.utf8.prefix(200), as: UTF8.self))-\(zeros)\(hexadecimal)"
  }

  /// Makes it, readable for its user alone: the pictures may be.
  static func make(_ path: String) throws(StorageError) {
    try FolderTree.make(parentFolder(parentFolder(path)))
    for folder in [parentFolder(path), path] {
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
        throw StorageError("make the folder \(folder)", errno: errno)
      }
    }
  }
}
