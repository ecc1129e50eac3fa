import Foundation
import ZigguratTestSupport

@testable import ZigguratCatalog

/// The databases that a catalog may lie in.
enum DatabaseKind: CaseIterable {
  case sqlite
  case postgreSQL

  /// The catalog of a test's folder: in PostgreSQL a schema that is called like it.
  func catalog(in folder: TemporaryFolder) throws -> Catalog {
    switch self {
    case .sqlite: return try Catalog(library: folder.path)
    case .postgreSQL:
      let address = try PostgreSQLServer.shared.get().schema("\((folder.path as NSString).lastPathComponent)")
      _ = try Catalog.migrate(postgreSQL: address)
      return try Catalog(postgreSQL: address)
    }
  }
}
