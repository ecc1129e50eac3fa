import Glibc
import Synchronization
import ZigguratCSQLite
import ZigguratFiles

/// The open connections of a catalog: to its file, or to memory if the file cannot be written.
///
/// Reading continues while another process blocks the writer.
struct SQLiteConnections {
  var reader: SQLiteConnection
  var writer: SQLiteConnection
  /// A connection for searches, which take longer than all other queries and must not delay them.
  var searcher: SQLiteConnection
  /// The reason why the listing is only in memory; nil if it has its file.
  var memoryReason: String?
  /// Whether a damaged file was replaced by an empty one.
  var replacesDamaged = false

  static func open(_ path: String) throws(SQLError) -> SQLiteConnections {
    do throws(SQLError) {
      return try openFile(path)
    } catch {
      if error.kind == .damaged {
        removeFiles(path)
        if var connections = try? openFile(path) {
          connections.replacesDamaged = true
          return connections
        }
      }
      // A read-only folder, a full disk, a file system without locks.
      return try openMemory(
        startingFrom: error.kind == .damaged ? nil : path, since: reason(error, path))
    }
  }

  /// Returns why a file cannot be used. SQLite reports a full disk as an I/O error while it creates the file of shared
  /// memory.
  private static func reason(_ error: SQLError, _ path: String) -> String {
    let isOfDisk =
      error.code.split(separator: " ").last.flatMap { Int32($0) }.map { $0 & 0xff } == SQLITE_IOERR
    let isFull = isOfDisk && freeBytes(at: parentFolder(path)).map { $0 < 1 << 20 } ?? false
    return isFull ? "the disk is full" : error.message
  }

  private static func openFile(_ path: String) throws(SQLError) -> SQLiteConnections {
    let writer = try SQLiteConnection(path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    // SQLite opens a file without write permission for reading, and each write would fail.
    guard !writer.isReadOnly else {
      throw SQLError(
        kind: .refused, code: "SQLite error \(SQLITE_READONLY)", message: "its permissions do not allow it",
        statement: "open \(path)")
    }
    try writer.run("PRAGMA journal_mode = WAL")
    // After a power failure, the archives of the last seconds are read again.
    try writer.run("PRAGMA synchronous = NORMAL")
    try prepare(writer)
    let reader = try SQLiteConnection(path, flags: SQLITE_OPEN_READWRITE)
    let searcher = try SQLiteConnection(path, flags: SQLITE_OPEN_READWRITE)
    // A connection opens the log by name with its first query. By then another file may have that name.
    for each in [reader, searcher] { try each.run("SELECT id FROM image LIMIT 1") }
    return SQLiteConnections(reader: reader, writer: writer, searcher: searcher)
  }

  private static let memoryNumber = Atomic<Int>(0)

  /// - Parameter path: a catalog whose rows are copied, if it can be read.
  static func openMemory(
    startingFrom path: String? = nil, since reason: String = "it is not asked for"
  ) throws(SQLError) -> SQLiteConnections {
    let number = memoryNumber.wrappingAdd(1, ordering: .relaxed).newValue
    let name = "file:ziggurat-catalog-\(number)?mode=memory"
    let connection = try SQLiteConnection(name, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    // Otherwise large sorts would use files.
    try connection.run("PRAGMA temp_store = MEMORY")
    try prepare(connection)
    if let path {
      try? connection.run("ATTACH ? AS old", [.text("file:\(escaped(path))?mode=ro\(isolation(path))")])
      let version = try? connection.integer("PRAGMA old.user_version")
      if version == SQLiteSchema.version { for sql in SQLiteSchema.takeOver { try? connection.run(sql) } }
      for sql in SQLiteSchema.takeOverOrigins { try? connection.run(sql) }
      try? connection.run("DETACH old")
    }
    return SQLiteConnections(
      reader: connection, writer: connection, searcher: connection, memoryReason: reason)
  }

  /// Returns the end of a URI's query. It is empty if the last writers left a readable log
  /// (https://sqlite.org/wal.html, section 8), else `immutable`: a file in a read-only folder cannot be locked.
  /// Outdated rows are detected by the `FileVersion` of the archives.
  private static func isolation(_ path: String) -> String {
    var status = stat()
    let hasLog = stat(path + "-wal", &status) == 0 && status.st_size > 0
    return hasLog && access(path + "-wal", R_OK | W_OK) == 0 && access(path + "-shm", R_OK | W_OK) == 0
      ? "" : "&immutable=1"
  }

  /// Returns a path for a `file:` URI. Characters that would end the path are percent-encoded.
  private static func escaped(_ path: String) -> String {
    path.replacing("%", with: "%25").replacing("?", with: "%3f").replacing("#", with: "%23")
  }

  /// Creates the tables if there are none of this version.
  private static func prepare(_ connection: SQLiteConnection) throws(SQLError) {
    try connection.transaction { () throws(SQLError) in
      for statement in SQLiteSchema.origin { try connection.run(statement) }
      guard try connection.integer("PRAGMA user_version") != SQLiteSchema.version else { return }
      for statement in SQLiteSchema.drop + SQLiteSchema.create { try connection.run(statement) }
      try connection.run("PRAGMA user_version = \(SQLiteSchema.version)")
    }
  }

  static func removeFiles(_ path: String) {
    for ending in ["", "-wal", "-shm"] { unlink(path + ending) }
  }
}
