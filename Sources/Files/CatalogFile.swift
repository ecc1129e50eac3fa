/// The SQLite files of a library's catalog, in the library's folder.
package enum CatalogFile {
  package static let name = "catalog.sqlite"

  /// The names of the catalog's files: the catalog itself, and SQLite's files beside it.
  package static let names = ["", "-wal", "-shm", "-journal"].map { name + $0 }

  /// Whether a path below the library's folder begins with the name of such a file. It is the catalog, or one of
  /// SQLite's files beside it, such as `catalog.sqlite-journal`. A folder of that name makes each write fail. Some file
  /// systems ignore case.
  package static func isReserved(_ path: String) -> Bool {
    var rest = path.utf8[...]
    for byte in name.utf8 {
      guard let first = rest.popFirst(), first == byte || first | 0x20 == byte && 0x61...0x7a ~= byte else {
        return false
      }
    }
    return rest.first.map { [UInt8(ascii: "-"), UInt8(ascii: "/")].contains($0) } ?? true
  }
}
