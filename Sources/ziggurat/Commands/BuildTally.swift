import Files
import Foundation
import HTTPMessages
import PyramidBuilding

/// Tells how a build goes, image by image, and sums it up.
struct BuildTally {
  let isQuiet: Bool
  let asJSON: Bool
  private var total: Int
  private var done = 0
  private var built = 0
  private var unchanged = 0
  private var reworded = 0
  private var failures: [BuildError] = []
  /// Of them, what was asked for and is no image.
  private var refused = 0
  /// Nothing was built or failed; what is pruned has a line of its own.
  var isEmpty: Bool { done == 0 && failures.isEmpty }

  /// The line at the foot of a terminal, where there is one.
  let progress: ProgressLine?

  init(isQuiet: Bool, asJSON: Bool, total: Int) {
    (self.isQuiet, self.asJSON, self.total) = (isQuiet, asJSON, total)
    progress = ProgressLine(total: total, isQuiet: isQuiet)
  }

  /// - Parameter id: the image's, where it got as far as having one.
  mutating func add(_ failure: BuildError, id: ImageID? = nil) {
    failures.append(failure)
    if id == nil { refused += 1 }
    let write = { Output.error(failure.description) }
    if let progress { progress.above(write) } else { write() }
    guard asJSON else { return }
    var object: JSONValue = [
      "source": .text(failure.source), "status": "failed", "reason": .text(failure.reason),
    ]
    object["id"] = id.map { .text($0.text) }
    Output.json(object)
  }

  /// An image that is not told of yet.
  mutating func postpone() { total -= 1 }

  mutating func add(_ source: SourceScan.Source, _ outcome: LibraryBuilder.Outcome) {
    done += 1
    // Pages are counted as they are met.
    total = max(total, done)
    switch outcome {
    case .failed(let failure), .refused(let failure):
      // An interrupted image is told of once, at the end.
      if !Interruption.isAsked { add(failure, id: source.id) }
    case .unchanged:
      unchanged += 1
      if asJSON {
        Output.json(["source": .text(source.path), "id": .text(source.id.text), "status": "unchanged"])
      }
      note("unchanged \(source.id)")
    case .reworded, .wouldReword:
      reworded += 1
      let isDone = if case .reworded = outcome { true } else { false }
      if asJSON {
        let status: JSONValue = isDone ? "reworded" : "would reword"
        Output.json(["source": .text(source.path), "id": .text(source.id.text), "status": status])
      }
      note("\(isDone ? "reworded" : "would reword") \(source.id)")
    case .wouldBuild:
      built += 1
      if asJSON {
        Output.json(["source": .text(source.path), "id": .text(source.id.text), "status": "would build"])
      }
      note("would build \(source.id)")
    case .built(let report):
      built += 1
      let (size, pyramid) = (report.pyramid.imageSize, report.pyramid)
      if asJSON {
        Output.json([
          "source": .text(source.path), "id": .text(source.id.text), "status": "built",
          "width": .integer(size.width), "height": .integer(size.height),
          "levels": .integer(pyramid.levelCount), "tiles": .integer(pyramid.tileCount),
          "bytes": .integer(report.byteCount), "route": .text(report.route),
          "steps": .list(report.steps.map { .text($0) }),
        ])
      }
      note(
        "built \(source.id): \(size.width) × \(size.height), \(pyramid.tileCount) tiles, "
          + ByteCountFormatter.string(fromByteCount: Int64(report.byteCount), countStyle: .file)
          + "; " + report.route + report.steps.map { "; " + $0 }.joined(),
        pixels: size.width * size.height)
    }
  }

  /// Images that would have been pruned, and why none of them was.
  mutating func addSpared(_ ids: [ImageID], _ failure: BuildError) {
    for id in ids {
      if asJSON { Output.json(["id": .text(id.text), "status": "would prune"]) }
      Output.note("would prune \(Output.oneLine(id.text))")
    }
    add(failure)
  }

  mutating func addPruned(_ ids: [ImageID], isDryRun: Bool) {
    let status = isDryRun ? "would prune" : "pruned"
    for id in ids {
      if asJSON { Output.json(["id": .text(id.text), "status": .text(status)]) }
      if !isQuiet { Output.note("\(status) \(id)") }
    }
  }

  func finish(passedOver: Int) {
    progress?.end()
    guard !isQuiet else { return }
    // Where a failure stands far above, among the lines of the images that went well.
    if !failures.isEmpty, done + refused > 1 {
      Output.note("failed:")
      for failure in failures { Output.note("  " + Output.oneLine(failure.description)) }
    }
    var parts = ["\(built) built"]
    if reworded > 0 { parts.append("\(reworded) reworded") }
    if unchanged > 0 { parts.append("\(unchanged) unchanged") }
    if !failures.isEmpty { parts.append("\(failures.count) failed") }
    if passedOver > 0 { parts.append("\(passedOver) passed over, no images by their names") }
    Output.note(parts.joined(separator: ", "))
  }

  var exitCode: ExitCode {
    if failures.contains(where: \.isTemporary) { return .temporary }
    return failures.isEmpty ? .success : .someFailed
  }

  private func note(_ line: String, pixels: Int = 0) {
    let line = "[\(done)/\(total)] " + line
    if let progress { progress.add(pixels: pixels, line: line) } else if !isQuiet { Output.note(line) }
  }
}
