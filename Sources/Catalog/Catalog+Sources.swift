package import TileStorage
package import ZigguratFiles

/// The sources of archives, for the repair of damaged ones. A record is used only after its source is found to have the
/// recorded digest. The catalog may be untrusted, and its author does not know which files exist.
extension Catalog {
  /// The part of a build record that the catalog stores.
  struct BuiltSource {
    let id: ImageID
    let digest: String
    let options: String
  }

  /// The source from which an image was built.
  package struct KnownSource: Hashable, Sendable {
    package let place: SourcePlace
    /// The digest of the source's content, as in build records.
    package let digest: String
    /// The build options, as in build records.
    package let options: String
  }

  package func sources(of ids: [ImageID]) throws(StorageError) -> [ImageID: KnownSource] {
    var found: [ImageID: KnownSource] = [:]
    try read { (connection) throws(SQLError) in
      found = [:]
      for id in ids {
        try connection.run(
          "SELECT path, book, prefix, digest, options FROM origin JOIN source USING (id) JOIN place USING (root) WHERE id = ?",
          [.text(id.text)]
        ) { row in
          guard let place = Self.place(row), let digest = row.text(3), let options = row.text(4) else {
            return
          }
          found[id] = KnownSource(place: place, digest: digest, options: options)
        }
      }
    }
    return found
  }

  /// Returns the root that claimed each image last.
  /// - Parameter ids: nil for all.
  func owners(of ids: [ImageID]?) throws(StorageError) -> [ImageID: String] {
    let (condition, values) = Self.condition(of: ids)
    let found = try rows("SELECT id, root FROM origin \(condition)", values, Self.owner)
    return Dictionary(found.map { ($0.id, $0.root) }) { $1 }
  }

  /// Returns an image and the root that claimed it.
  static func owner(_ row: any SQLRow) -> (id: ImageID, root: String)? {
    guard let id = row.id(0), let root = row.text(1) else { return nil }
    return (id, root)
  }

  /// Returns the condition that selects rows of some images, and its parameters.
  /// - Parameter ids: nil for all.
  private static func condition(of ids: [ImageID]?) -> (String, [SQLValue]) {
    guard let ids else { return ("", []) }
    return ("WHERE id IN (\(ids.map { _ in "?" }.joined(separator: ", ")))", ids.map { .text($0.text) })
  }

  func place(ofRoot root: String) throws(StorageError) -> SourcePlace? {
    try rows("SELECT path, book, prefix FROM place WHERE root = ?", [.text(root)], Self.place).first
  }

  /// Returns the place in a row's first columns; nil if its prefix is not a valid id.
  private static func place(_ row: any SQLRow) -> SourcePlace? {
    let prefix = row.id(2)
    guard let path = row.text(0), row.isNull(2) || prefix != nil else { return nil }
    return SourcePlace(path: path, isBook: row.integer(1) != 0, prefix: prefix)
  }

  func remember(_ places: [SourceRoot: SourcePlace]) throws(StorageError) {
    try write { (connection) throws(SQLError) in
      try connection.runEach(
        CatalogSchema.learnPlace,
        places.map { root, place in
          [
            .text(root.text), .text(place.path), .integer(place.isBook ? 1 : 0),
            SQLValue(place.prefix?.text),
          ]
        })
    }
  }

  /// Returns the claims of those archives whose source is also known.
  /// - Parameter ids: nil for all.
  func knownOrigins(of ids: [ImageID]?) throws(StorageError) -> [ImageID: Origin] {
    let (condition, values) = Self.condition(of: ids)
    let found = try rows(
      "SELECT id, root, bytes, modified FROM origin JOIN source USING (id) \(condition)", values
    ) { row in
      Self.owner(row).map { Origin(id: $0, root: $1, size: row.integer(2), modified: row.integer(3)) }
    }
    return Dictionary(found.map { ($0.id, $0) }) { $1 }
  }
}
