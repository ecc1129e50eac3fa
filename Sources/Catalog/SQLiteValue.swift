import CSQLite
import Files

/// A value bound to a statement's parameter.
enum SQLiteValue {
  case integer(Int)
  case real(Double)
  case text(String)
  case null

  init(_ text: String?) { self = text.map { .text($0) } ?? .null }
  init(_ number: Int?) { self = number.map { .integer($0) } ?? .null }
  init(_ number: Double?) { self = number.map { .real($0) } ?? .null }

  func bind(to statement: OpaquePointer, _ number: Int32) -> Int32 {
    switch self {
    case .integer(let value): sqlite3_bind_int64(statement, number, Int64(value))
    case .real(let value): sqlite3_bind_double(statement, number, value)
    case .null: sqlite3_bind_null(statement, number)
    case .text(let value):
      // SQLITE_TRANSIENT, a cast that is not imported: SQLite copies the text.
      sqlite3_bind_text(
        statement, number, value, Int32(value.utf8.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      )
    }
  }
}

/// The row that a statement stands at; columns count from 0.
struct SQLiteRow {
  fileprivate let statement: OpaquePointer

  init(statement: OpaquePointer) { self.statement = statement }

  func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(statement, column)) }

  func text(_ column: Int32) -> String? {
    sqlite3_column_text(statement, column).map { String(cString: $0) }
  }

  /// Nil, too, where the text is no image's id: a catalog's file may be a stranger's.
  func id(_ column: Int32) -> ImageID? { text(column).flatMap(ImageID.init) }

  /// The text's UTF-8, valid until the next row.
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let text = sqlite3_column_text(statement, column)
    return UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column)))
  }

  func optionalInteger(_ column: Int32) -> Int? {
    sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : integer(column)
  }

  func optionalReal(_ column: Int32) -> Double? {
    sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : sqlite3_column_double(statement, column)
  }
}
