import Foundation
import TileGeometry
import TileStorage

/// The one table, and the way between its rows and entries.
enum CatalogSchema {
  /// Raised with every change of the table: a catalog of another version is made anew.
  static let version = 4

  static let create = """
    CREATE TABLE image (
      id TEXT PRIMARY KEY, inode INTEGER NOT NULL, bytes INTEGER NOT NULL, modified INTEGER NOT NULL,
      width INTEGER, height INTEGER, tile_size INTEGER, overlap INTEGER, stored_bytes INTEGER, format TEXT, generation INTEGER,
      title TEXT, caption TEXT, creator TEXT, date TEXT, place TEXT, rights TEXT, keywords TEXT, microns REAL,
      page INTEGER, book TEXT, item TEXT NOT NULL, search TEXT
    ) WITHOUT ROWID
    """
  static let createIndexes = [
    "CREATE INDEX image_book ON image (book, page) WHERE book IS NOT NULL",
    // What a collection lists: a book once, whatever its pages. It holds all that the listing asks for.
    "CREATE INDEX image_item ON image (item, title) WHERE width IS NOT NULL",
  ]

  static let columns =
    "id, inode, bytes, modified, width, height, tile_size, overlap, format, generation, title, caption, "
    + "creator, date, place, rights, keywords, page, stored_bytes, microns"
  static let insert =
    "INSERT OR REPLACE INTO image (\(columns), book, item, search) "
    + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

  static func values(_ entry: CatalogEntry) -> [SQLiteValue] {
    let (pyramid, m) = (entry.pyramid, entry.metadata)
    // Lists of strings always encode.
    let keywords = String(decoding: try! JSONEncoder().encode(m.keywords), as: UTF8.self)
    return [
      .text(entry.id), .integer(Int(truncatingIfNeeded: entry.stamp.inode)), .integer(entry.stamp.size),
      .integer(entry.stamp.modifiedNanoseconds), SQLiteValue(pyramid?.imageSize.width),
      SQLiteValue(pyramid?.imageSize.height), SQLiteValue(pyramid?.tileSize),
      SQLiteValue(pyramid?.overlap), .text(entry.format),
      .integer(Int(truncatingIfNeeded: entry.generation)), SQLiteValue(m.title), SQLiteValue(m.caption),
      SQLiteValue(m.creator), SQLiteValue(m.date), SQLiteValue(m.place), SQLiteValue(m.rights),
      .text(keywords), SQLiteValue(entry.page), SQLiteValue(entry.bytes),
      SQLiteValue(entry.micronsPerPixel), SQLiteValue(entry.book),
      .text(entry.book ?? entry.id), .text(entry.searchText),
    ]
  }

  /// The entry of a row with `columns`.
  static func entry(_ row: SQLiteRow) -> CatalogEntry {
    let stamp = FileStamp(inode: row.integer(1), size: row.integer(2), modified: row.integer(3))
    var entry = CatalogEntry(unreadable: row.text(0) ?? "", stamp: stamp)
    entry.pyramid = PixelSize(width: row.integer(4), height: row.integer(5)).flatMap {
      Pyramid(imageSize: $0, tileSize: row.integer(6), overlap: row.integer(7))
    }
    entry.format = row.text(8) ?? ""
    entry.generation = UInt64(bitPattern: Int64(row.integer(9)))
    let keywords = row.text(16).flatMap { try? JSONDecoder().decode([String].self, from: Data($0.utf8)) }
    entry.metadata = ImageMetadata(
      title: row.text(10), caption: row.text(11), creator: row.text(12), date: row.text(13),
      place: row.text(14), rights: row.text(15), keywords: keywords ?? [])
    entry.page = row.optionalInteger(17)
    entry.bytes = row.optionalInteger(18)
    entry.micronsPerPixel = row.optionalReal(19)
    return entry
  }
}
