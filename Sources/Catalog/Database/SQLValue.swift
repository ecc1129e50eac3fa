import ZigguratFiles

/// A value bound to a statement's parameter.
enum SQLValue {
  case integer(Int)
  case real(Double)
  case text(String)
  /// Text for the full-text index.
  case searchText(String)
  case null

  init(_ text: String?) { self = text.map { .text($0) } ?? .null }
  init(_ number: Int?) { self = number.map { .integer($0) } ?? .null }
  init(_ number: Double?) { self = number.map { .real($0) } ?? .null }
}

/// The current row of a statement, valid until the next one. Columns count from 0.
protocol SQLRow {
  func isNull(_ column: Int32) -> Bool
  /// Returns a number; 0 if the column is null.
  func integer(_ column: Int32) -> Int
  func real(_ column: Int32) -> Double
  func text(_ column: Int32) -> String?
  /// Returns the text's UTF-8, valid until the next row.
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer
}

extension SQLRow {
  /// Returns an image's id; nil if the text is not a valid id, since a catalog may be untrusted.
  func id(_ column: Int32) -> ImageID? { text(column).flatMap(ImageID.init) }

  func optionalInteger(_ column: Int32) -> Int? { isNull(column) ? nil : integer(column) }

  func optionalReal(_ column: Int32) -> Double? { isNull(column) ? nil : real(column) }
}
