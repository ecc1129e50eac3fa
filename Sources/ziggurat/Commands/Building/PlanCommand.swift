import Foundation
import PyramidBuilding
import ZigguratAdapters
import ZigguratFiles
import ZigguratObjectStore

enum PlanCommand: Command {
  static let name = "plan"
  static let usage = "SOURCE… > plan.jsonl"
  static let summary = "Find the images of a build once, for many machines that each build a shard of them."
  static let options =
    [Option("library", "DIR", help: "Folder for the archives, in which no sources are searched")]
    + BuildCommand.sourceOptions + [Option("quiet", help: "Report failures only")]

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    guard !arguments.operands.isEmpty else {
      throw arguments.missing("source")
    }
    let asBooks = try arguments.flag("book")
    let prefix = try BuildCommand.prefix(arguments)
    let isQuiet = try arguments.flag("quiet")
    SignalHandler.listen()
    var remote: (any RemoteSources)?
    do throws(StorageError) {
      if arguments.operands.contains(where: ObjectLibrary.isMeant) {
        remote = BucketSources(try StoredFiles())
      }
    } catch {
      Output.error(error.description)
      return error.isTemporary ? .temporary : .someFailed
    }
    // Builders of a shard run in another working directory.
    let sources = arguments.operands.map {
      ObjectLibrary.isMeant(by: $0) ? $0 : SourceScan.path(ofArgument: $0)
    }
    let scan = SourceScan(
      sources, library: arguments.string("library") ?? "", asBooks: asBooks, prefix: prefix,
      followsLinks: try arguments.flag("follow-links"), remote: remote,
      isCancelled: { SignalHandler.isAsked })
    if SignalHandler.isAsked { return .interrupted }
    var failures = scan.failures
    do throws(StorageError) {
      var text: [UInt8] = []
      func write(_ line: [UInt8]) {
        text += line
        guard text.count > 1 << 16 else { return }
        Output.result(String(decoding: text, as: UTF8.self))
        text = []
      }
      failures += try SourcePlan.write(scan, asBooks: asBooks, prefix: prefix) { write($0) }
      Output.result(String(decoding: text, as: UTF8.self))
    } catch {
      Output.error(error.description)
      return .temporary
    }
    for failure in failures { Output.error(failure.description) }
    if !isQuiet {
      let count = scan.sources.count + scan.failures.count - failures.count
      var parts = ["\(Output.count(count, "source")) planned"]
      if scan.passedOver > 0 {
        parts.append("\(Output.count(scan.passedOver, "file")) skipped")
      }
      parts += BuildSummary.passedOver(linksOf: scan)
      for root in scan.roots where root.isEmpty && failures.isEmpty {
        parts.append("no image in \(Output.oneLine(root.text))")
      }
      Output.note(parts.joined(separator: ", "))
    }
    if failures.contains(where: \.isTemporary) { return .temporary }
    return failures.isEmpty ? .success : .someFailed
  }
}
