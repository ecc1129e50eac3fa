import Foundation
import PyramidBuilding
import TileStorage
import ZigguratFiles
import ZigguratText

/// A report of a build, image by image, and its summary.
struct BuildSummary {
  let verbosity: Verbosity
  let asJSON: Bool
  private var total: Int
  /// Sources with at least one finished image; a source of many pages counts once.
  private var done: Set<SourceScan.Source> = []
  private var built = 0
  /// Whether nothing is built, so that the counts are of images that would be.
  private let isDryRun: Bool
  private var unchanged = 0
  private var outdated = 0
  private var metadataUpdated = 0
  private var moved = 0
  private var pruned = 0
  /// The number of images with damaged sources, and of those with lost or wrong pixels, which make the command fail.
  private var damaged = 0
  private var damagedPixels = 0
  private var failures: [BuildError] = []
  /// The number of images that were refused because a source owns them whose disk may not be mounted, by its path.
  private var absent: [String: Int] = [:]
  /// The number of refused images of such a source that have a line of their own. All others are in one line at the
  /// end.
  private static let examples = 3
  /// The number of failures of earlier builds that are only counted.
  private var known = 0
  private let ignoresKnownFailures: Bool
  /// The number of failures without an image id: operands that are not images.
  private var refused = 0
  /// The options of the build.
  private let options: BuildOptions
  /// The number of images whose tiles were re-encoded although `--fidelity lossless` was requested.
  private var lossy = 0
  /// Whether nothing was built or failed; pruned images have lines of their own.
  var isEmpty: Bool { done.isEmpty && failures.isEmpty }

  /// The progress line at the bottom of a terminal; nil without a terminal.
  let progress: ProgressLine?

  init(
    _ verbosity: Verbosity, asJSON: Bool, total: Int, _ options: BuildOptions, isDryRun: Bool,
    ignoresKnownFailures: Bool = false
  ) {
    self.options = options
    self.isDryRun = isDryRun
    self.ignoresKnownFailures = ignoresKnownFailures
    self.verbosity = verbosity
    self.asJSON = asJSON
    self.total = total
    progress = verbosity >= .changes ? ProgressLine(total: total) : nil
  }

  /// - Parameter id: the image's id, if it is known.
  mutating func add(_ failure: BuildError, id: ImageID? = nil) {
    if failure.knownSince != nil, ignoresKnownFailures {
      known += 1
      if verbosity == .everything { note("known failure: \(failure.description)") }
    } else {
      failures.append(failure)
      if id == nil { refused += 1 }
      if let owner = failure.absentOwner { absent[owner, default: 0] += 1 }
      if isExample(failure) {
        let write = { Output.error(failure.description) }
        if let progress { progress.above(write) } else { write() }
      }
    }
    guard asJSON else { return }
    var object: JSONValue = [
      "source": .text(failure.source), "status": "failed", "reason": .text(failure.reason),
    ]
    object["id"] = id.map { .text($0.text) }
    if failure.knownSince != nil { object["known"] = .flag(true) }
    Output.json(object)
  }

  /// Whether a failure has a line of its own: it is not one of many images that an absent source owns.
  private func isExample(_ failure: BuildError) -> Bool {
    failure.absentOwner.map { absent[$0, default: 0] <= Self.examples } ?? true
  }

  /// Removes one image, which is not reported yet, from the total.
  mutating func postpone() { total -= 1 }

  /// - Parameters:
  ///   - source: the source of the image: a single image or a page of `whole`.
  ///   - whole: the source that the run was given.
  mutating func add(
    _ source: SourceScan.Source, _ outcome: LibraryBuilder.Outcome, of whole: SourceScan.Source
  ) {
    done.insert(whole)
    progress?.count(sources: done.count)
    if let failure = outcome.failure {
      // An interrupted image is reported once, at the end.
      if !SignalHandler.isAsked { add(failure, id: source.id) }
      return
    }
    if asJSON { Output.json(object(source, outcome)) }
    if let damage = outcome.damage { add(damage, outcome, of: whole) }
    switch outcome {
    case .failed, .refused: break
    case .withdrawn, .wouldWithdraw:
      pruned += 1
      note("\(outcome.status) \(source.id), which is not a page of \(source.path)")
    case .unchanged:
      unchanged += 1
      if verbosity == .everything { note("unchanged \(source.id)") }
    case .outdated:
      outdated += 1
      if verbosity == .everything { note("outdated \(source.id)") }
    case .metadataUpdated, .wouldUpdateMetadata:
      metadataUpdated += 1
      note("\(outcome.status) \(source.id)")
    case .moved(let former), .wouldMove(let former):
      moved += 1
      note("\(outcome.status) \(former) to \(source.id)")
    case .wouldBuild:
      built += 1
      note("would build \(source.id)")
    case .built(let report):
      built += 1
      let (size, pyramid) = (report.pyramid.imageSize, report.pyramid)
      let isLossy = isLossyUnasked(report)
      if isLossy { lossy += 1 }
      note(
        "built \(source.id): \(size.width) × \(size.height), \(pyramid.tileCount) tiles, "
          + Output.size(ofBytes: report.byteCount)
          + "; " + report.route
          + (isLossy ? " (not lossless: encoded again at quality \(options.quality))" : "")
          + report.steps.map { "; " + $0 }.joined()
          + (report.dropped.isEmpty ? "" : "; not shown: " + report.dropped.joined(separator: ", "))
          + (report.leftOut.isEmpty ? "" : "; left out: " + report.leftOut.joined(separator: ", ")),
        pixels: size.width * size.height)
    }
  }

  /// Whether tiles lost something that `--fidelity lossless` was to keep.
  private func isLossyUnasked(_ report: PyramidBuilder.Report) -> Bool {
    options.fidelity == .lossless && options.format != .png && !report.route.hasPrefix("lossless")
  }

  /// Reports the damage of a source whose image is in the library nevertheless.
  private mutating func add(
    _ damage: SourceDamage, _ outcome: LibraryBuilder.Outcome, of source: SourceScan.Source
  ) {
    damaged += 1
    var isKnown = true
    if case .built = outcome { isKnown = false }
    if damage.kind == .error, !(isKnown && ignoresKnownFailures) { damagedPixels += 1 }
    let line = "\(source.path): \(outcome.status), but \(damage.reason)"
    switch damage.kind {
    case .error where isKnown && ignoresKnownFailures, .truncated where isKnown, .warning:
      if verbosity == .everything || !isKnown { note(line) }
    case .error, .truncated:
      let write = { Output.error(line) }
      if let progress { progress.above(write) } else { write() }
    }
  }

  private func object(_ source: SourceScan.Source, _ outcome: LibraryBuilder.Outcome) -> JSONValue {
    var object: JSONValue = [
      "source": .text(source.path), "id": .text(source.id.text), "status": .text(outcome.status),
    ]
    if let damage = outcome.damage {
      object["damaged"] = .flag(true)
      object["damage"] = .text(damage.kind.rawValue)
      object["reason"] = .text(damage.reason)
    }
    switch outcome {
    case .moved(let former), .wouldMove(let former): object["from"] = .text(former.text)
    case .built(let report):
      let (size, pyramid) = (report.pyramid.imageSize, report.pyramid)
      object["width"] = .integer(size.width)
      object["height"] = .integer(size.height)
      object["levels"] = .integer(pyramid.levelCount)
      object["tiles"] = .integer(pyramid.tileCount)
      object["bytes"] = .integer(report.byteCount)
      object["route"] = .text(report.route)
      object["steps"] = .list(report.steps.map { .text($0) })
      if !report.dropped.isEmpty { object["dropped"] = .list(report.dropped.map { .text($0) }) }
      if !report.leftOut.isEmpty { object["leftOut"] = .list(report.leftOut.map { .text($0) }) }
    case .unchanged, .outdated, .metadataUpdated, .wouldUpdateMetadata, .wouldBuild, .failed, .refused,
      .withdrawn,
      .wouldWithdraw:
      break
    }
    return object
  }

  /// Reports images that would have been pruned, and why none of them was.
  mutating func addSpared(_ ids: [ImageID], _ failure: BuildError) {
    for id in ids {
      if asJSON { Output.json(["id": .text(id.text), "status": "would prune"]) }
      if verbosity != .summary { Output.note("would prune \(Output.oneLine(id.text))") }
    }
    add(failure)
  }

  mutating func addPruned(_ ids: [ImageID], isDryRun: Bool) {
    let status = isDryRun ? "would prune" : "pruned"
    pruned += ids.count
    for id in ids {
      if asJSON { Output.json(["id": .text(id.text), "status": .text(status)]) }
      if verbosity >= .changes { Output.note("\(status) \(Output.oneLine(id.text))") }
    }
  }

  /// - Parameter scan: the scan of the operands; nil after the first scan of several.
  func finish(_ scan: SourceScan?) {
    progress?.end()
    for (owner, count) in absent.sorted(by: { $0.key < $1.key }) where count > Self.examples {
      Output.error(
        "\(Output.count(count, "image")) belong to \(owner), which is not there now: is its disk mounted? "
          + "(if its files are here now, --take-ownership replaces the images; unchanged files are not built)"
      )
    }
    guard verbosity > .failures else { return }
    // The failures may be far above, among the lines of successful images.
    let repeated = failures.filter(isExample)
    if verbosity >= .changes, !repeated.isEmpty, done.count + refused > 1 {
      Output.note("failed:")
      for failure in repeated { Output.note("  " + Output.oneLine(failure.description)) }
    }
    let would = isDryRun ? "would be " : ""
    var parts = ["\(built) \(would)built"]
    if moved > 0 { parts.append("\(moved) \(would)moved") }
    if metadataUpdated > 0 { parts.append("\(metadataUpdated) with new metadata") }
    if unchanged > 0 { parts.append("\(unchanged) unchanged") }
    if outdated > 0 { parts.append("\(outdated) outdated, kept as another version built them") }
    if pruned > 0 { parts.append("\(pruned) \(would)pruned") }
    if lossy > 0 { parts.append("\(lossy) not lossless") }
    if damaged > 0 { parts.append("\(damaged) of damaged sources") }
    if !failures.isEmpty { parts.append("\(failures.count) failed") }
    if known > 0 { parts.append("\(Output.count(known, "known failure"))") }
    if let scan {
      if scan.passedOver > 0 {
        parts.append("\(Output.count(scan.passedOver, "file")) skipped (--verbose says why)")
      }
      parts += Self.passedOver(linksOf: scan)
      // Unreadable folders are reported already.
      for empty in scan.roots where empty.isEmpty && scan.failures.isEmpty {
        parts.append("no image in \(Output.oneLine(empty.text))")
      }
    }
    Output.note(parts.joined(separator: ", "))
  }

  /// The number of images by outcome.
  var counts: [(outcome: String, count: Int)] {
    [
      ("built", built), ("moved", moved), ("metadata-updated", metadataUpdated), ("unchanged", unchanged),
      ("outdated", outdated),
      ("pruned", pruned), ("failed", failures.count), ("known_failure", known),
    ]
  }

  /// Reports ignored links by name, and returns their number for the summary.
  static func passedOver(linksOf scan: SourceScan) -> [String] {
    guard scan.linkCount > 0 else { return [] }
    for link in scan.links {
      Output.note("passed over: \(Output.oneLine(link)) is a link that leads out of its folder")
    }
    let more = scan.linkCount - scan.links.count
    if more > 0 { Output.note("passed over: \(more) more such links") }
    return ["\(Output.count(scan.linkCount, "link")) passed over (--follow-links follows them)"]
  }

  var exitCode: ExitCode {
    if failures.contains(where: \.isTemporary) { return .temporary }
    return failures.isEmpty && damagedPixels == 0 ? .success : .someFailed
  }

  /// - Parameter line: evaluated only if it is shown.
  private func note(_ line: @autoclosure () -> String, pixels: Int = 0) {
    guard verbosity >= .changes else { return }
    let line = "[\(done.count)/\(total)] " + Output.oneLine(line())
    if let progress { progress.add(pixels: pixels, line: line) } else { Output.note(line) }
  }
}
