import ZigguratFiles

/// The order of a listing.
package struct ListOrder: Hashable, Sendable {
  package enum Key: String, CaseIterable, Sendable {
    /// The id, in natural order.
    case name
    /// The name that is shown to visitors, in natural order.
    case title
    /// The date of the image, or of a book as a whole. An image without a date comes last.
    case date
    /// The time at which the archive was added or rebuilt.
    case added
    /// The number of pixels.
    case size
  }

  package var key: Key
  package var isDescending: Bool

  package static let standard = ListOrder(key: .name, isDescending: false)

  package init(key: Key, isDescending: Bool) {
    self.key = key
    self.isDescending = isDescending
  }

  /// Reads `date`, or `-date` for the descending order.
  package init?(_ text: String) {
    let isDescending = text.hasPrefix("-")
    guard let key = Key(rawValue: isDescending ? String(text.dropFirst()) : text) else { return nil }
    self.init(key: key, isDescending: isDescending)
  }

  /// The text that `init(_:)` reads.
  package var text: String { "\(isDescending ? "-" : "")\(key.rawValue)" }

  package static var names: [String] { Key.allCases.map(\.rawValue) }

  /// Returns the sort key in SQL. A book is sorted by its own id, and its pages by theirs.
  func expression(in scope: ListScope) -> String {
    switch key {
    case .name: if case .book = scope { "name_key" } else { "shelf" }
    case .title: if case .book = scope { "shown" } else { "coalesce(book_shown, shown)" }
    case .date: if case .book = scope { "date" } else { "coalesce(book_date, date)" }
    case .added: "modified"
    case .size: "width * height"
    }
  }

  /// The definition of an index of the whole list in this order, for `CREATE INDEX`. The order by name always has one.
  var index: String {
    let way = isDescending ? "DESC" : "ASC"
    return
      "image_by_\(key)_\(way) ON image ((\(expression(in: .items))) \(way), name_key, id) WHERE shelf IS NOT NULL"
  }
}

/// The end of a page of a listing: its order, the sort key of its last image, and the id of that image.
///
/// Its text is the order and `!` (omitted for the standard order), the length of the key, a colon, the key and the id.
/// The length keeps the text unambiguous, whatever the key and the id contain.
package struct ListCursor {
  package let order: ListOrder
  /// The sort key; nil if the image has none.
  let key: String?
  package let id: String

  init(key: String?, id: String, order: ListOrder = .standard) {
    self.key = key
    self.id = id
    self.order = order
  }

  /// Creates the place behind an image or a book's cover in natural order.
  package init(behind entry: CatalogEntry) {
    self.init(key: NaturalOrder.key(entry.item.text), id: entry.id.text)
  }

  package init?(_ text: String) {
    // By scalars: as a character, the colon may combine with the scalar after it.
    let scalars = text.unicodeScalars
    guard let colon = scalars.firstIndex(of: ":") else { return nil }
    let rest = scalars[colon...].dropFirst()
    var length = scalars[..<colon]
    var order = ListOrder.standard
    if let mark = length.firstIndex(of: "!") {
      guard let other = ListOrder(String(length[..<mark])), other != .standard else { return nil }
      order = other
      length = length[mark...].dropFirst()
    }
    if length.elementsEqual("-".unicodeScalars) {
      self.init(key: nil, id: String(rest), order: order)
      return
    }
    guard let count = Int(String(length)), count >= 0, rest.count >= count else { return nil }
    self.init(key: String(rest.prefix(count)), id: String(rest.dropFirst(count)), order: order)
  }

  package var text: String {
    let place = key.map { "\($0.unicodeScalars.count):\($0)\(id)" } ?? "-:\(id)"
    return order == .standard ? place : "\(order.text)!\(place)"
  }
}
