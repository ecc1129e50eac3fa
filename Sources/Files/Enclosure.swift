import Glibc

/// A folder out of which nothing is read: links below it are followed as long as they stay within.
package struct Enclosure: Sendable {
  private let folder: String
  /// The folder's path without links, ending in a slash, as it was at first.
  private let place: [UInt8]

  package init(_ folder: String) throws(StorageError) {
    guard let place = Self.place(folder) else {
      throw StorageError("open the folder \(folder)", errno: errno)
    }
    (self.folder, self.place) = (folder, place)
  }

  /// Whether an open file lies in the folder. What is asked is the file that is open, not the path that led to it:
  /// between a look at a path and its opening a link may come to lead elsewhere.
  package func holds(_ descriptor: Int32) -> Bool {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
      let count = readlink("/proc/self/fd/\(descriptor)", buffer.baseAddress!, buffer.count)
      guard count > 0 else { return false }
      let path = buffer[..<count].lazy.map(UInt8.init(bitPattern:))
      if path.starts(with: place) { return true }
      // Who swaps whole libraries by a link has the folder lie elsewhere now.
      return Self.place(folder).map { $0 != place && path.starts(with: $0) } ?? false
    }
  }

  private static func place(_ folder: String) -> [UInt8]? {
    guard let resolved = realpath(folder, nil) else { return nil }
    defer { free(resolved) }
    let path = UnsafeRawBufferPointer(start: resolved, count: strlen(resolved))
    return Array(path) + (path.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")])
  }
}
