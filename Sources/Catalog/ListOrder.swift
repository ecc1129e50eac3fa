import ZigguratFiles

/// The order of a listing.
package struct ListOrder: Hashable, Sendable {
  package enum Key: String, CaseIterable, Sendable {
    /// The id, in natural order.
    case name
    /// The name that visitors read below it, in natural order.
    case title
    /// The date of the image, or of a book as a whole. An image without a date comes last.
    case date
    /// The time at which the archive was added or rebuilt.
    case added
    /// In pixels.
    case size
  }

  package var key: Key
  package var isDescending: Bool

  package static let standard = ListOrder(key: .name, isDescending: false)

  package init(key: Key, isDescending: Bool) {
    self.key = key
    self.isDescending = isDescending
  }

  /// `date`, or `-date` for the last one first.
  package init?(_ text: String) {
    let isDescending = text.hasPrefix("-")
    guard let key = Key(rawValue: isDescending ? String(text.dropFirst()) : text) else { return nil }
    self.init(key: key, isDescending: isDescending)
  }

  /// As `init(_:)` takes it.
  package var text: String { "\(isDescending ? "-" : "")\(key.rawValue)" }

  package static var names: [String] { Key.allCases.map(\.rawValue) }

  /// As SQL has it: a book stands where its id would, its pages by theirs.
  func expression(in scope: ListScope) -> String {
    switch key {
    case .name: if case .book = scope { "name_key" } else { "shelf" }
    case .title: if case .book = scope { "shown" } else { "coalesce(book_shown, shown)" }
    case .date: if case .book = scope { "date" } else { "coalesce(book_date, date)" }
    case .added: "modified"
    case .size: "width * height"
    }
  }

  /// A way along all that is listed in this order, for `CREATE INDEX`; not for names, of which there always is one.
  var index: String {
    let way = isDescending ? "DESC" : "ASC"
    return
      "image_by_\(key)_\(way) ON image ((\(expression(in: .items))) \(way), name_key, id) WHERE shelf IS NOT NULL"
  }
}

/// The end of a page of a listing: its order, the sort key of its last image, and that image's id.
///
/// As text the order and `!`, where it is not that of names; the key's length, a colon, the key and the id: nothing in
/// either can be taken for what stands between.
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

  /// Behind an image or a book's cover in natural order.
  package init(behind entry: CatalogEntry) {
    self.init(key: NaturalOrder.key(entry.item.text), id: entry.id.text)
  }

  package init?(_ text: String) {
    // Not by characters, which may be one with what stands behind a colon.
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
