import Foundation
import PyramidBuilding
import TileStorage

enum VerifyCommand: Command {
  static let name = "verify"
  static let usage = "DIR|ARCHIVE"
  static let summary = "Read every tile back; one line per fault, exit code 1 where there is any."
  static let options = [
    Option("jobs", "N", help: "threads (default: all cores)"),
    Option("json", help: "one JSON object a line per fault on stdout"),
    Option("quiet", help: "say nothing but faults"),
  ]

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    let path = try arguments.onlyOperand("the library or archive")
    let jobs = try arguments.int("jobs", in: 1...1024) ?? ProcessInfo.processInfo.activeProcessorCount
    let asJSON = try arguments.flag("json")
    let archives: [String]
    do {
      archives = try FolderTree.archives(at: path)
    } catch {
      Output.error(error.description)
      return .someFailed
    }
    let count = LibraryVerifier.verify(archives, jobs: jobs) { fault in
      if asJSON {
        Output.json(["archive": fault.path, "fault": fault.what])
      } else {
        Output.result(Output.oneLine(fault.description) + "\n")
      }
    }
    if try !arguments.flag("quiet") {
      Output.note(
        Output.count(archives.count, "archive") + " read, "
          + (count == 0 ? "no faults" : Output.count(count, "fault")))
    }
    return count == 0 ? .success : .someFailed
  }
}
