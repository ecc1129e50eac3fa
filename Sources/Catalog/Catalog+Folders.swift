import TileStorage
package import ZigguratFiles

/// The content of one folder of a library. An index finds it, so the cost depends only on the folder.
extension Catalog {
  /// A single image or a book, as a collection lists it.
  package struct Item: Hashable, Sendable {
    package var id: ImageID
    /// The title of the image, or the common title of a book's pages.
    package let title: String?
    /// The image, or a book's first page.
    package var first: CatalogEntry
  }

  /// Returns the folders directly below a folder that contain images at any depth, in natural order.
  /// - Parameter folder: nil for the root of the library.
  package func folders(in folder: ImageID?) throws(StorageError) -> [ImageID] {
    var found: [ImageID] = []
    let (start, end) = Self.range(below: folder)
    try read { (connection) throws(SQLError) in
      // One seek for each folder: from its first place to the first place behind everything below it.
      func seek(_ sign: String, _ from: String) -> String {
        "(SELECT substr(folder, 1, length(?1) + \(connection.positionFunction)(substr(folder, length(?1) + 1), '/')) "
          + "FROM image WHERE shelf IS NOT NULL AND folder \(sign) \(from) AND folder < ?2 ORDER BY folder LIMIT 1)"
      }
      let next = seek(">=", "substr(child.name, 1, length(child.name) - 1) || '0'")
      found = try connection.rows(
        "WITH RECURSIVE child(name) AS (SELECT \(seek(">", "?1")) UNION ALL SELECT \(next) FROM child "
          + "WHERE child.name IS NOT NULL) SELECT substr(name, 1, length(name) - 1) FROM child WHERE name IS NOT NULL",
        [.text(start), .text(end)]
      ) { $0.id(0) }
    }
    return found.sorted()
  }

  /// Returns the number of images and books in a folder itself. A book counts once.
  package func itemCount(in folder: ImageID?) throws(StorageError) -> Int {
    try count("WHERE folder = ? AND shelf IS NOT NULL", [.text(Self.range(below: folder).start)])
  }

  /// Returns the images and books directly in a folder, in natural order, beginning with number `first`, counted from
  /// 0.
  package func items(in folder: ImageID?, from first: Int, limit: Int) throws(StorageError) -> [Item] {
    try entries(
      "WHERE folder = ? AND shelf IS NOT NULL ORDER BY shelf, id LIMIT ? OFFSET ?",
      [.text(Self.range(below: folder).start), .integer(limit), .integer(first)]
    ).map { entry in
      Item(id: entry.item, title: entry.book == nil ? entry.metadata.title : entry.cover?.title, first: entry)
    }
  }

  /// Returns the first listed entry below a folder, at any depth; nil if there is none. A book is listed by its cover.
  package func first(below folder: ImageID?) throws(StorageError) -> CatalogEntry? {
    let (condition, values) = Self.condition(folder.map(ListScope.folder) ?? .items)
    return try entries("WHERE \(condition) ORDER BY shelf, id LIMIT 1", values).first
  }

  /// Returns the range of all ids that begin with the folder and a slash. "0" is the byte after the slash, and no text
  /// sorts behind U+10FFFF.
  private static func range(below folder: ImageID?) -> (start: String, end: String) {
    folder.map { ("\($0)/", "\($0)0") } ?? ("", "\u{10ffff}\u{10ffff}")
  }
}
