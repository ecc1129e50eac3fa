import ZigguratCatalog
import ZigguratFiles
import ZigguratText

enum CatalogCommand: Command {
  static let name = "catalog"
  static let usage = "migrate|check postgresql://USER@HOST/DATABASE"
  static let summary = "Make or check the tables of a shared catalog."
  static let options: [Option] = []

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    guard arguments.operands.count > 1 else {
      throw arguments.missing(arguments.operands.isEmpty ? "action" : "URL")
    }
    // A third operand may contain a password.
    guard arguments.operands.count == 2 else { throw .needlessValue("ziggurat catalog \(usage)") }
    let (action, address) = (arguments.operands[0], arguments.operands[1])
    guard Catalog.isPostgreSQL(address) else {
      // The value is not shown: it may contain a password.
      throw .requires("ziggurat catalog", "a URL of the form postgresql://USER@HOST/DATABASE")
    }
    guard ["migrate", "check"].contains(action) else {
      throw .unknown(
        "action", action, near: nearest(action, ["migrate", "check"]), help: "ziggurat help catalog")
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
