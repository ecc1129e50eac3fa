import Glibc

/// A folder that confines reads and writes: links below it are followed as long as they stay inside.
///
/// It checks the open file or folder, by the kernel's path of it, not the path that led to it. Between a check of a
/// path and its opening, a link may be changed. `openat2` with `RESOLVE_BENEATH` is not used. It refuses absolute links
/// that stay inside, and many kernels and containers do not support it.
package struct RootDirectory: Sendable {
  private let folder: String
  /// The folder's original path without links, ending in a slash.
  private let place: [UInt8]

  /// O_PATH of <fcntl.h>, which glibc's module for Swift hides: a folder that may not be listed can still be traversed.
  private static let pathOnly: Int32 = 0o10_000_000

  package init(_ folder: String) throws(StorageError) {
    guard let place = Self.place(folder) else {
      throw StorageError("open the folder \(folder)", errno: errno)
    }
    self.folder = folder
    self.place = place
  }

  /// Whether an open file lies in the folder, or is the folder.
  package func holds(_ descriptor: Int32) -> Bool {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
      let count = readlink("/proc/self/fd/\(descriptor)", buffer.baseAddress!, buffer.count)
      guard count > 0 else { return false }
      return holds(buffer[..<count].lazy.map(UInt8.init(bitPattern:)))
    }
  }

  /// Whether a path without links leads into the folder, or to it.
  package func holds(path: String) -> Bool { holds(path.utf8) }

  private func holds(_ path: some Collection<UInt8>) -> Bool {
    func lies(in place: [UInt8]) -> Bool { path.starts(with: place) || path.elementsEqual(place.dropLast()) }
    if lies(in: place) { return true }
    // If whole libraries are swapped by a link, the folder is at another place now.
    return Self.place(folder).map { $0 != place && lies(in: $0) } ?? false
  }

  /// Creates a folder and missing ones above it, up to the enclosure's own.
  ///
  /// - Parameter path: begins with the folder's path as it was given.
  /// - Throws: if any link in the path leads out; nothing is created outside then.
  package func make(_ path: String) throws(StorageError) {
    let action = "make the folder \(path)"
    let slash = UInt8(ascii: "/")
    let rest = path.utf8.dropFirst(folder.utf8.count)
    guard path.utf8.starts(with: folder.utf8), rest.first ?? slash == slash || folder.utf8.last == slash
    else {
      throw StorageError(action, "it lies outside \(folder)")
    }
    let names = rest.split(separator: slash)
    var current = open(folder, Self.pathOnly | O_DIRECTORY | O_CLOEXEC)
    defer { if current >= 0 { close(current) } }
    for name in names {
      guard current >= 0 else { break }
      let name = String(decoding: Array(name), as: UTF8.self)
      var next = openat(current, name, Self.pathOnly | O_DIRECTORY | O_CLOEXEC)
      if next < 0, errno == ENOENT {
        // Another builder may have created it meanwhile.
        guard mkdirat(current, name, 0o777) == 0 || errno == EEXIST else {
          throw StorageError(action, errno: errno)
        }
        next = openat(current, name, Self.pathOnly | O_DIRECTORY | O_CLOEXEC)
      }
      let code = errno
      close(current)
      current = next
      guard next >= 0 else {
        throw code == ENOTDIR
          ? StorageError(action, "there is a file of that name") : StorageError(action, errno: code)
      }
      guard holds(next) else { throw StorageError(action, "a link leads out of \(folder)") }
    }
    guard current >= 0 else { throw StorageError(action, errno: errno) }
  }

  /// Throws if a file or folder that a library reserves is a link that leads out of the library, or to a missing file.
  /// Writing or removing it would change other data of the user.
  /// - Parameter name: the name in the library's folder.
  package static func requireOwn(_ name: String, in library: String) throws(StorageError) {
    let path = "\(library)/\(name)"
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return }
    let enclosure = try RootDirectory(library)
    if let target = realpath(path, nil) {
      defer { free(target) }
      if enclosure.holds(path: String(cString: target)) { return }
    }
    throw StorageError(
      "use \(path)", "it is a link that leads out of the library: remove it, or move its target there")
  }

  private static func place(_ folder: String) -> [UInt8]? {
    guard let resolved = realpath(folder, nil) else { return nil }
    defer { free(resolved) }
    let path = UnsafeRawBufferPointer(start: resolved, count: strlen(resolved))
    return Array(path) + (path.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")])
  }
}
