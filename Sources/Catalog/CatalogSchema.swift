import Foundation
import TileGeometry
import TileStorage
import ZigguratFiles

/// The conversion between entries and rows of the image table, and the statements that change tables.
enum CatalogSchema {
  static let learnSource =
    "INSERT INTO source (id, digest, options) VALUES (?, ?, ?) "
    + "ON CONFLICT (id) DO UPDATE SET digest = excluded.digest, options = excluded.options"
  static let learnPlace =
    "INSERT INTO place (root, path, book, prefix) VALUES (?, ?, ?, ?) ON CONFLICT (root) DO NOTHING"
  static let claim =
    "INSERT INTO origin (id, root, bytes, modified) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
    + "root = excluded.root, bytes = excluded.bytes, modified = excluded.modified "
    + "WHERE origin.root != excluded.root OR origin.bytes != excluded.bytes OR origin.modified != excluded.modified"

  static let columns =
    "id, inode, bytes, modified, width, height, tile_size, overlap, format, generation, title, caption, "
    + "creator, date, place, rights, keywords, page, stored_bytes, microns, sidecar, digest, words, book, "
    + "label, pages, common, moves"
  static let allColumns =
    columns + ", item, folder, search, name_key, shelf, shown, book_search, book_shown, book_date"
  /// An upsert. `INSERT OR REPLACE` would remove a row without firing its trigger.
  static let insert: String = {
    let names = allColumns.split(separator: ", ")
    let changes = names.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    return "INSERT INTO image (\(allColumns)) VALUES (\(names.map { _ in "?" }.joined(separator: ", "))) "
      + "ON CONFLICT (id) DO UPDATE SET \(changes)"
  }()
  static func values(_ entry: CatalogEntry) -> [SQLValue] {
    let (pyramid, m) = (entry.pyramid, entry.metadata)
    let isSingle = entry.book == nil && pyramid != nil
    // Lists of strings always encode.
    let keywords = String(decoding: try! JSONEncoder().encode(m.keywords), as: UTF8.self)
    return [
      .text(entry.id.text), .integer(Int(truncatingIfNeeded: entry.fileVersion.inode)),
      .integer(entry.fileVersion.size),
      .integer(entry.fileVersion.modifiedNanoseconds), SQLValue(pyramid?.imageSize.width),
      SQLValue(pyramid?.imageSize.height), SQLValue(pyramid?.tileSize),
      SQLValue(pyramid?.overlap), .text(entry.format),
      .integer(Int(truncatingIfNeeded: entry.generation)), SQLValue(m.title), SQLValue(m.caption),
      SQLValue(m.creator), SQLValue(sortable(m.date)), SQLValue(m.place), SQLValue(m.rights),
      .text(keywords), SQLValue(entry.page), SQLValue(entry.bytes),
      SQLValue(entry.micronsPerPixel), .integer(entry.fileVersion.sidecar),
      SQLValue(sortable(entry.sourceDigest)),
      SQLValue(otherMetadata(m)), SQLValue(entry.book?.text), SQLValue(entry.label),
      // The columns of a book's cover are set after all of its pages are written.
      .null, .null, entry.isMoving ? .integer(1) : .null, .text(entry.item.text),
      .text(entry.item.folder.map { "\($0)/" } ?? ""),
      entry.pyramid == nil ? .null : .searchText(entry.searchText), .text(NaturalOrder.key(entry.id.text)),
      SQLValue(isSingle ? NaturalOrder.key(entry.id.text) : nil),
      .text(CatalogEntry.key(ofShown: entry.shownName)),
      .null, .null, .null,
    ]
  }

  /// Returns a text that is short enough for an index. No valid date or digest is longer.
  static func sortable(_ text: String?) -> String? {
    text.map { $0.firstScalars(128) }
  }

  /// Returns the whole metadata as JSON if the other columns cannot hold it. Few images need that, and JSON is slow.
  private static func otherMetadata(_ metadata: ImageMetadata) -> String? {
    let held = ImageMetadata(
      title: metadata.title, caption: metadata.caption,
      creators: metadata.creator.map { [$0] } ?? [], date: sortable(metadata.date), place: metadata.place,
      rights: metadata.rights, keywords: metadata.keywords)
    return held == metadata ? nil : String(decoding: metadata.json, as: UTF8.self)
  }

  /// Returns the entry of a row with `columns`; nil if the row has no valid image id.
  static func entry(_ row: any SQLRow) -> CatalogEntry? {
    guard let id = row.id(0) else { return nil }
    let fileVersion = FileVersion(
      inode: row.integer(1), size: row.integer(2), modified: row.integer(3), sidecar: row.integer(20))
    var entry = CatalogEntry(unreadable: id, fileVersion: fileVersion)
    entry.pyramid = PixelSize(width: row.integer(4), height: row.integer(5)).flatMap {
      Pyramid(imageSize: $0, tileSize: row.integer(6), overlap: row.integer(7))
    }
    entry.format = row.text(8) ?? ""
    entry.generation = UInt64(bitPattern: Int64(row.integer(9)))
    let keywords = row.text(16).flatMap { try? InputLimit.metadata.json.decode([String].self, from: $0.utf8) }
    let metadata = row.text(22).flatMap { ImageMetadata(json: Data($0.utf8)) }
    entry.metadata =
      metadata
      ?? ImageMetadata(
        title: row.text(10), caption: row.text(11), creators: row.text(12).map { [$0] } ?? [],
        date: row.text(13), place: row.text(14), rights: row.text(15), keywords: keywords ?? [])
    entry.page = row.optionalInteger(17)
    entry.bytes = row.optionalInteger(18)
    // Other numbers are invalid (JSON has no infinity), and another program may have written the row.
    entry.micronsPerPixel = row.optionalReal(19).flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
    entry.sourceDigest = row.text(21)
    entry.book = row.id(23)
    entry.label = row.text(24)
    if let pages = row.optionalInteger(25) {
      entry.cover = CatalogEntry.Cover(pages: pages, title: row.text(26))
    }
    entry.isMoving = row.optionalInteger(27) == 1
    return entry
  }
}
