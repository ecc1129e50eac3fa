import Catalog
import Files

enum CatalogCommand: Command {
  static let name = "catalog"
  static let usage = "migrate|check postgresql://USER@HOST/DATABASE"
  static let summary = "Make or check the tables that servers share as their catalog."
  static let options: [Option] = []

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    guard arguments.operands.count == 2 else { throw UsageError("it is: ziggurat catalog \(usage)") }
    let (action, address) = (arguments.operands[0], arguments.operands[1])
    guard Catalog.isPostgreSQL(address) else {
      // Not told: what is no such URL may hold a password anywhere.
      throw UsageError("a shared catalog is a URL, postgresql://USER@HOST/DATABASE")
    }
    guard ["migrate", "check"].contains(action) else {
      throw UsageError("'\(action)' is neither migrate nor check")
    }
    do throws(StorageError) {
      return try action == "migrate" ? migrate(address) : check(address)
    } catch {
      Output.error(error.description)
      return error.isTemporary ? .temporary : .someFailed
    }
  }

  private static func migrate(_ address: String) throws(StorageError) -> ExitCode {
    let count = try Catalog.migrate(postgreSQL: address)
    let (found, version) = try Catalog.versions(postgreSQL: address)
    if found > version { return try check(address) }
    Output.result(count == 0 ? "version \(version) already\n" : "version \(version) now\n")
    return .success
  }

  private static func check(_ address: String) throws(StorageError) -> ExitCode {
    let versions = try Catalog.versions(postgreSQL: address)
    guard versions.found != versions.needed else {
      Output.result("version \(versions.found), as needed\n")
      return .success
    }
    let (found, needed) = versions
    Output.error(
      found == 0
        ? "there are no tables; 'ziggurat catalog migrate' makes them"
        : found < needed
          ? "the tables are of version \(found); 'ziggurat catalog migrate' brings them to version \(needed)"
          : "the tables are of version \(found), a newer ziggurat's; this one needs version \(needed)")
    return .someFailed
  }
}
