import TileStorage
package import ZigguratFiles

/// The content of one folder of a library. An index finds it, so that the cost depends on the folder alone.
extension Catalog {
  /// A single image or a book, as a collection lists it.
  package struct Item: Hashable, Sendable {
    package var id: ImageID
    /// The title of the image, or the common title of a book's pages.
    package let title: String?
    /// The image, or a book's first page.
    package var first: CatalogEntry
  }

  /// The folders right below one that hold images, at any depth, in natural order.
  /// - Parameter folder: nil for the library's own.
  package func folders(in folder: ImageID?) throws(StorageError) -> [ImageID] {
    var found: [ImageID] = []
    let (start, end) = Self.range(below: folder)
    try read { (connection) throws(SQLError) in
      // From the first place of one folder to the first behind all that is below it: a seek for each.
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

  /// The images and books of a folder itself in natural order, from the first of them, counted from 0.
  package func items(in folder: ImageID?, from first: Int, limit: Int) throws(StorageError) -> [Item] {
    try entries(
      "WHERE folder = ? AND shelf IS NOT NULL ORDER BY shelf, id LIMIT ? OFFSET ?",
      [.text(Self.range(below: folder).start), .integer(limit), .integer(first)]
    ).map { entry in
      Item(id: entry.item, title: entry.book == nil ? entry.metadata.title : entry.cover?.title, first: entry)
    }
  }

  /// The first of what is listed below a folder, at any depth, of a book its cover; nil where there is nothing.
  package func first(below folder: ImageID?) throws(StorageError) -> CatalogEntry? {
    let (condition, values) = Self.condition(folder.map(ListScope.folder) ?? .items)
    return try entries("WHERE \(condition) ORDER BY shelf, id LIMIT 1", values).first
  }

  /// All that begins with the folder and a slash, of which "0" is the next byte; no text comes behind U+10FFFF.
  private static func range(below folder: ImageID?) -> (start: String, end: String) {
    folder.map { ("\($0)/", "\($0)0") } ?? ("", "\u{10ffff}\u{10ffff}")
  }
}
