import Catalog
import Files
import Foundation
import PyramidBuilding
import TileStorage

/// What a build's options say of a plan, of which it builds all or a part.
struct PlannedBuild {
  static let options = [
    Option("plan", "FILE", help: "build what 'ziggurat plan' has found instead of sources; -: stdin"),
    Option(
      "shard", "I/N", needs: "plan",
      help: "of N parts of the plan this one, from 0: for N machines; then 'ziggurat index', once"),
    Option(
      "reports", "DIR", needs: "plan",
      help: "tell there what is begun and how it ends, for 'ziggurat report' and for the next try"),
    Option(
      "ledger", "FILE", help: "remember the sources' digests there, and read only those that were touched"),
  ]

  private let path: String
  private let part: WorkShard?
  private let reports: String?

  /// What a build needs of it.
  struct Opened {
    let plan: SourcePlan
    let part: WorkShard?
    let journal: ShardReport?
  }

  /// Nil where no plan is asked for.
  init?(_ arguments: Arguments, isDryRun: Bool) throws(UsageError) {
    guard let path = arguments.string("plan") else { return nil }
    self.path = path
    guard arguments.operands.isEmpty else {
      throw UsageError("--plan and sources do not go together: the plan names them")
    }
    for option in ["book", "watch", "space"] where try arguments.flag(option) {
      throw UsageError("--plan and --\(option) do not go together")
    }
    for option in ["prefix", "mend"] where arguments.string(option) != nil {
      throw UsageError("--plan and --\(option) do not go together")
    }
    // A dry run has no end that anybody waits for.
    reports = isDryRun ? nil : arguments.string("reports")
    guard let text = arguments.string("shard") else {
      part = nil
      return
    }
    guard let shard = WorkShard(text) else {
      throw UsageError(
        "\(arguments.spelled("shard")) is '\(text)'; it takes I/N, with N from 1 to \(WorkShard.most) and I from 0 to N − 1"
      )
    }
    part = shard
  }

  func open() throws(StorageError) -> Opened {
    let plan = try SourcePlan(path: path)
    let journal = try reports.map { (folder) throws(StorageError) in
      try ShardReport(of: plan, part ?? .whole, in: folder)
    }
    return Opened(plan: plan, part: part, journal: journal)
  }

  /// Writes down from which roots of a plan the images came that parts of it have built.
  static func claim(
    _ path: String, _ reports: String, in library: String, _ catalog: Catalog
  ) throws(StorageError) {
    let plan = try SourcePlan(path: path)
    let report = try PlanReport(of: plan, in: [reports])
    let origins = LibraryOrigins(library: library, catalog: catalog)
    try origins.claim(report.claims(of: plan))
    try origins.remember(
      Dictionary(
        plan.scan.roots.map {
          ($0.root, SourcePlace(path: $0.path, isBook: plan.asBooks, prefix: plan.prefix))
        }, uniquingKeysWith: { $1 }))
  }
}

extension BuildRound {
  /// What the next build is told by this one.
  func save(_ tally: inout BuildTally) {
    if let failure = planned?.journal?.failure {
      tally.add(BuildError(failure.action, failure.reason, isTemporary: true))
    }
    guard let ledger = builder.ledger, !builder.isDryRun else { return }
    do throws(StorageError) { try ledger.save() } catch {
      Output.note("the ledger is not kept: \(error.description)")
    }
  }
}
