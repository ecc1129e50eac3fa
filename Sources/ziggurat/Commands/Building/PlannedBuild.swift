import Foundation
import PyramidBuilding
import TileStorage
import ZigguratCatalog
import ZigguratFiles

/// A plan, and the shard of it that a build makes; without a shard, all its images.
struct PlannedBuild {
  static let options = [
    Option("plan", "FILE", help: "Plan of 'ziggurat plan' to build instead of sources; - is stdin"),
    Option(
      "shard", "I/N", requires: "plan",
      help: "Build part I of N of the plan, from 0: for N machines; run 'ziggurat reindex' once afterwards"),
    Option(
      "journal-dir", "DIR", requires: "plan", was: "reports",
      help: "Folder for the journal of the shard, for 'ziggurat report' and for the next try"),
    Option(
      "digest-cache", "FILE", was: "ledger",
      help: "File that keeps digests of sources, so that only touched ones are read again"),
  ].grouped(.plans)

  private let path: String
  private let part: WorkShard?
  private let reports: String?

  /// The data that a build needs.
  struct Opened {
    let plan: SourcePlan
    let part: WorkShard?
    let journal: ShardReport?
  }

  /// Reads the options; nil without `--plan`.
  init?(_ arguments: Arguments, isDryRun: Bool) throws(UsageError) {
    guard let path = arguments.string("plan") else { return nil }
    self.path = path
    guard arguments.operands.isEmpty else {
      throw .conflict("--plan", "sources")
    }
    for option in ["book", "watch", "space"] where try arguments.flag(option) {
      throw .conflict("--plan", arguments.spelled(option))
    }
    for option in ["prefix", "only"] where arguments.string(option) != nil {
      throw .conflict("--plan", arguments.spelled(option))
    }
    // A dry run needs no journal.
    reports = isDryRun ? nil : arguments.string("journal-dir")
    part = try arguments.value(
      "shard", expected: "I/N, with N from 1 to \(WorkShard.maximum) and I from 0 to N − 1", { WorkShard($0) }
    )
  }

  func open() throws(StorageError) -> Opened {
    let plan = try SourcePlan(path: path)
    let journal = try reports.map { (folder) throws(StorageError) in
      try ShardReport(of: plan, part ?? .whole, in: folder)
    }
    return Opened(plan: plan, part: part, journal: journal)
  }

  /// Records the source roots of the images that shards of a plan have built.
  static func claim(
    _ path: String, _ reports: String, in library: String, _ catalog: Catalog
  ) throws(StorageError) {
    let plan = try SourcePlan(path: path)
    let report = try PlanReport(of: plan, in: [reports])
    let origins = LibraryOrigins(library: library, catalog: catalog)
    try origins.claim(report.claims(of: plan))
    try origins.remember(
      Dictionary(plan.scan.roots.map { ($0.root, $0.place) }, uniquingKeysWith: { $1 }))
  }
}

extension BuildRun {
  /// Saves the state for the next build.
  func save(_ tally: inout BuildSummary) {
    if let failure = planned?.journal?.failure {
      tally.add(BuildError(failure.action, failure.reason, isTemporary: true))
    }
    guard let ledger = builder.ledger, !builder.isDryRun else { return }
    do throws(StorageError) { try ledger.save() } catch {
      Output.note("the digest cache is not kept: \(error.description)")
    }
  }
}
