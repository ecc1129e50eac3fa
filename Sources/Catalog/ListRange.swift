import ZigguratFiles

/// A part of an ordered list that lies together in an index: the list behind a place is some of these, one after the other.
struct ListRange {
  /// Behind another condition.
  let condition: String
  let values: [SQLValue]
  let sorting: String

  /// All of these at once, for what is no way along an index: each of them would be found anew.
  static func whole(behind cursor: ListCursor?, _ order: ListOrder, _ key: String) -> ListRange {
    let ranges = ranges(behind: cursor, order, key)
    guard ranges.count > 1 else { return ranges[0] }
    let way = order.isDescending ? "DESC" : "ASC"
    let any = ranges.map { "(1 = 1\($0.condition))" }.joined(separator: " OR ")
    return ListRange(
      condition: cursor == nil ? "" : " AND (\(any))", values: cursor == nil ? [] : ranges.flatMap(\.values),
      sorting: "\(key) IS NULL, \(key) \(way), name_key, id")
  }

  /// - Parameters:
  ///   - cursor: of the last image before; nil of the first page.
  ///   - key: what the list goes by, as SQL has it.
  static func ranges(behind cursor: ListCursor?, _ order: ListOrder, _ key: String) -> [ListRange] {
    let way = order.isDescending ? "DESC" : "ASC"
    let sign = order.isDescending ? "<" : ">"
    if order.key == .name {
      let sorting = "\(key) \(way), id \(way)"
      guard let cursor, let last = cursor.key else {
        return [ListRange(condition: "", values: [], sorting: sorting)]
      }
      return [
        ListRange(
          condition: " AND (\(key), id) \(sign) (?, ?)", values: [.text(last), .text(cursor.id)],
          sorting: sorting)
      ]
    }
    // Those of one key are in their natural order, whichever way the keys go.
    let natural = "name_key, id"
    let place = cursor.map { [SQLValue.text(NaturalOrder.key($0.id)), .text($0.id)] } ?? []
    let behind = cursor == nil ? "" : " AND (name_key, id) > (?, ?)"
    let without = { (condition: String, values: [SQLValue]) in
      ListRange(condition: " AND \(key) IS NULL\(condition)", values: values, sorting: natural)
    }
    guard let cursor else {
      return [
        ListRange(condition: " AND \(key) IS NOT NULL", values: [], sorting: "\(key) \(way), \(natural)"),
        without("", []),
      ]
    }
    guard let last = cursor.key else { return [without(behind, place)] }
    // What is a number is compared as one.
    let value: SQLValue =
      switch order.key {
      case .name, .date, .title: .text(last)
      case .added, .size: .integer(Int(last) ?? 0)
      }
    return [
      ListRange(condition: " AND \(key) = ?\(behind)", values: [value] + place, sorting: natural),
      ListRange(condition: " AND \(key) \(sign) ?", values: [value], sorting: "\(key) \(way), \(natural)"),
      without("", []),
    ]
  }
}
