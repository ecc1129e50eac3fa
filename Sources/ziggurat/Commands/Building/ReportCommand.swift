import Foundation
import PyramidBuilding
import ZigguratFiles
import ZigguratText

enum ReportCommand: Command {
  static let name = "report"
  static let usage = "PLAN JOURNALS…"
  static let summary = "Merge the journals of a plan's shards, and list the images that are left."
  static let options = [
    Option("json", help: "Write one JSON object per image and line to stdout"),
    Option("quiet", help: "Report only failures and images that are left"),
  ]

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    guard let path = arguments.operands.first, arguments.operands.count > 1 else {
      throw arguments.missing(arguments.operands.isEmpty ? "plan" : "journals")
    }
    let (asJSON, isQuiet) = (try arguments.flag("json"), try arguments.flag("quiet"))
    do throws(StorageError) {
      let plan = try SourcePlan(path: path)
      let report = try PlanReport(of: plan, in: Array(arguments.operands.dropFirst()))
      guard report.count > 0 || plan.scan.sources.isEmpty else {
        Output.error("no report is of the plan \(path)")
        return .temporary
      }
      return show(report, plan, asJSON: asJSON, isQuiet: isQuiet)
    } catch {
      Output.error(error.description)
      return error.isTemporary ? .temporary : .someFailed
    }
  }

  private static func show(
    _ report: PlanReport, _ plan: SourcePlan, asJSON: Bool, isQuiet: Bool
  ) -> ExitCode {
    var counts: [String: Int] = [:]
    let failures = plan.scan.failures
    var hasFailed = !failures.isEmpty
    var isUnfinished = !report.left.isEmpty || plan.scan.failures.contains(where: \.isTemporary)
    for failure in failures { Output.error(failure.description) }
    for image in report.images.values.sorted(by: { $0.id < $1.id }) {
      // Journals of earlier versions have other names.
      let status = ["kept": "outdated", "reworded": "metadata-updated"][image.status] ?? image.status
      counts[status, default: 0] += 1
      if asJSON { Output.json(object(image)) }
      guard let reason = image.reason else { continue }
      Output.error("\(image.source): \(reason)")
      if image.isTemporary == true { isUnfinished = true } else { hasFailed = true }
    }
    for source in report.left {
      if asJSON {
        Output.json(["source": .text(source.path), "id": .text(source.id.text), "status": "left"])
      }
      Output.error("\(source.path): no shard has reported its result")
    }
    if !isQuiet {
      counts["failed", default: 0] += failures.count
      counts["left"] = report.left.count
      let outcomes = ["built", "moved", "metadata-updated", "unchanged", "outdated", "failed", "left"]
      let parts = outcomes.map { ($0, counts[$0] ?? 0) }.filter { $0.1 > 0 || $0.0 == "built" }
      Output.note(parts.map { "\($0.1) \($0.0)" }.joined(separator: ", "))
    }
    return isUnfinished ? .temporary : hasFailed ? .someFailed : .success
  }

  private static func object(_ image: ShardReport.Image) -> JSONValue {
    var object: JSONValue = [
      "source": .text(image.source), "id": .text(image.id.text), "status": .text(image.status),
    ]
    object["reason"] = image.reason.map { .text($0) }
    return object
  }
}
