/// The files in which SQLite keeps a library's catalog, in the library's folder.
package enum CatalogFile {
  package static let name = "catalog.sqlite"

  /// The names of the catalog's files: the catalog, and what SQLite puts beside it.
  package static let names = ["", "-wal", "-shm", "-journal"].map { name + $0 }

  /// Whether a path below the library's folder begins with the name of such a file: the catalog, or what SQLite puts
  /// beside it, as `catalog.sqlite-journal`. A folder of that name makes each write fail. Some file systems ignore case.
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
