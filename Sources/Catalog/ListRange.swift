import ZigguratFiles

/// A part of an ordered list that is contiguous in an index. The list behind a place consists of several ranges.
struct ListRange {
  /// The condition, to be added to another one.
  let condition: String
  let values: [SQLValue]
  let sorting: String

  /// Returns all ranges as one, for a query without an index, which would repeat the search for each range.
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
  ///   - cursor: the last image of the previous page; nil for the first page.
  ///   - key: the sort key in SQL.
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
    // Images with equal keys are in natural order, also if the keys are descending.
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
    // Numeric keys are compared as numbers.
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
