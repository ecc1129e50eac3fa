package import TileStorage
package import ZigguratFiles

/// From what archives were built, for who finds one damaged. None of it is believed of an image before its source has
/// the digest: a catalog may be a stranger's, who does not know what files there are.
extension Catalog {
  /// What an archive says of its build.
  struct BuiltSource {
    let id: ImageID
    let digest: String
    let options: String
  }

  /// An image's source as it was built.
  package struct KnownSource: Hashable, Sendable {
    package let place: SourcePlace
    /// Of the source's content, as build records have it.
    package let digest: String
    /// As build records have them.
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
          let prefix = row.text(2).map(ImageID.init)
          guard let path = row.text(0), let digest = row.text(3), let options = row.text(4),
            prefix == nil || prefix! != nil
          else { return }
          found[id] = KnownSource(
            place: SourcePlace(path: path, isBook: row.integer(1) != 0, prefix: prefix ?? nil),
            digest: digest, options: options)
        }
      }
    }
    return found
  }

  /// The root that claimed each image last.
  /// - Parameter ids: nil for all.
  func owners(of ids: [ImageID]?) throws(StorageError) -> [ImageID: String] {
    var found: [ImageID: String] = [:]
    let condition = ids.map { "WHERE id IN (\($0.map { _ in "?" }.joined(separator: ", ")))" } ?? ""
    try read { (connection) throws(SQLError) in
      found = [:]
      try connection.run("SELECT id, root FROM origin \(condition)", (ids ?? []).map { .text($0.text) }) {
        if let id = $0.id(0), let root = $0.text(1) { found[id] = root }
      }
    }
    return found
  }

  func place(ofRoot root: String) throws(StorageError) -> SourcePlace? {
    var place: SourcePlace?
    try read { (connection) throws(SQLError) in
      place = nil
      try connection.run("SELECT path, book, prefix FROM place WHERE root = ?", [.text(root)]) { row in
        let prefix = row.text(2).map(ImageID.init)
        guard let path = row.text(0), prefix == nil || prefix! != nil else { return }
        place = SourcePlace(path: path, isBook: row.integer(1) != 0, prefix: prefix ?? nil)
      }
    }
    return place
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

  /// Claims of archives whose build is known, too.
  /// - Parameter ids: nil for all.
  func knownOrigins(of ids: [ImageID]?) throws(StorageError) -> [ImageID: Origin] {
    var found: [ImageID: Origin] = [:]
    let condition = ids.map { "WHERE id IN (\($0.map { _ in "?" }.joined(separator: ", ")))" } ?? ""
    try read { (connection) throws(SQLError) in
      found = [:]
      try connection.run(
        "SELECT id, root, bytes, modified FROM origin JOIN source USING (id) \(condition)",
        (ids ?? []).map { .text($0.text) }
      ) { row in
        guard let id = row.id(0), let root = row.text(1) else { return }
        found[id] = Origin(id: id, root: root, size: row.integer(2), modified: row.integer(3))
      }
    }
    return found
  }
}
