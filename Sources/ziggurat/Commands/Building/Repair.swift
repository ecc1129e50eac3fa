import Foundation
import Glibc
import PyramidBuilding
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages

/// The repair of damaged archives of a library by rebuilding them from their sources. It runs builds of this very
/// program with the options of each archive, because the sandboxed processes of one process have fixed options.
struct Repair {
  let library: String
  let jobs: Int
  let asJSON: Bool
  /// Options that no record contains: which links are followed, and the password of encrypted PDFs.
  var buildOptions: [String] = []
  /// Paths of archives that the catalog lists and that do not exist.
  var missing: Set<String> = []

  struct Outcome {
    /// The number of archives that are whole now.
    var repaired = 0
    /// The number of archives that are unchanged.
    var left = 0
    /// Missing archives without a source, which are removed from the catalog.
    var removed: [ImageID] = []
    /// Whether a retry may repair one of them.
    var isTemporary = false
  }

  /// The images that one build can repair.
  private struct Group: Hashable {
    let place: SourcePlace
    let options: [String]
  }

  /// Repairs archives and reports the result of each.
  /// - Parameter paths: paths of archives in the library.
  func run(_ paths: [String]) throws(StorageError) -> Outcome {
    var outcome = Outcome()
    let archives = Dictionary(
      paths.compactMap { path in ImageID(archive: path, below: library).map { ($0, path) } },
      uniquingKeysWith: { first, _ in first })
    let known = try Catalog(library: library).sources(of: archives.keys.sorted())
    var groups: [Group: [ImageID: String]] = [:]
    for (id, path) in archives.sorted(by: { $0.key < $1.key }) {
      guard let source = known[id] else {
        report(
          path, "its source is unknown: build the source again, or restore the archive from a backup",
          isGone: true, &outcome)
        continue
      }
      let record = FolderStore(library: library).buildRecord(ofID: id)
      if let record, record.sourceDigest != source.digest {
        report(path, "it is not the archive that was built from \(source.place.path)", &outcome)
      } else if let options = Self.arguments(record?.options ?? source.options) {
        groups[Group(place: source.place, options: options), default: [:]][id] = source.digest
      } else {
        report(path, "this version knows no such options: \(source.options)", &outcome)
      }
    }
    for (group, images) in groups.sorted(by: { $0.key.place.path < $1.key.place.path }) {
      if SignalHandler.isAsked { break }
      try build(group, images, archives, &outcome)
    }
    if !outcome.removed.isEmpty {
      try Catalog(library: library).update([], removing: outcome.removed.map(\.text))
    }
    return outcome
  }

  private func build(
    _ group: Group, _ images: [ImageID: String], _ archives: [ImageID: String], _ outcome: inout Outcome
  ) throws(StorageError) {
    let prefix = group.place.prefix.map { ["--prefix", $0.text] } ?? []
    let build = try build(
      ["build", "--library", library, "--only", "-", "--json", "--quiet", "--jobs", String(jobs)]
        + buildOptions
        + (group.place.isBook ? ["--book"] : []) + prefix + group.options + ["--", group.place.path],
      // Ids that differ only in the composition of accents are one text: the other is not repaired, which is reported.
      input: Dictionary(images.map { ($0.key.text, $0.value) }, uniquingKeysWith: { first, _ in first }))
    if build.exit == .temporary { outcome.isTemporary = true }
    for id in images.keys.sorted() {
      let path = archives[id]!
      switch build.reports[id]?.status {
      case "built":
        // The file itself decides, not the build's report.
        let defects = ArchiveVerifier.defects(ofArchive: path)
        if let defect = defects.first(where: { !$0.isOfSource }) {
          report(path, "still damaged after it was rebuilt: \(defect.what)", &outcome)
        } else {
          outcome.repaired += 1
          if asJSON {
            Output.json(["archive": .text(path), "repaired": .flag(true)])
          } else {
            Output.result(Output.oneLine("\(path): rebuilt from \(group.place.path)") + "\n")
          }
        }
      case "pruned":
        outcome.repaired += 1
        if asJSON {
          Output.json(["archive": .text(path), "repaired": .flag(true)])
        } else {
          Output.result(Output.oneLine("\(path): moved to the trash") + "\n")
        }
      case "failed":
        let cause = build.reports[id]?.reason.map { ": \($0)" } ?? ""
        report(path, "it was not rebuilt from its source\(cause)", &outcome)
      default:
        if build.exit == .success || build.exit == .someFailed {
          reportAbsence(of: id, path, group.place, &outcome)
        } else {
          report(path, "the build of \(group.place.path) failed with code \(build.status)", &outcome)
        }
      }
    }
  }

  /// Reports an image that the build of its source's location did not report.
  private func reportAbsence(
    of id: ImageID, _ path: String, _ place: SourcePlace, _ outcome: inout Outcome
  ) {
    switch place.absence(of: id) {
    case .gone: report(path, "its source is not in \(place.path)", isGone: true, &outcome)
    case .unmounted(let folder):
      report(
        path,
        "\(folder) is empty or does not exist: is its disk mounted?",
        &outcome)
    case .linked(let link):
      report(path, "\(link) is a link that leads out of its folder: use --follow-links", &outcome)
    case .exists:
      report(
        path, "its source is not in \(place.path), or is another file now: build the source again", &outcome)
    }
  }

  /// - Parameter isGone: whether nothing is left from which a missing archive could be rebuilt.
  private func report(_ path: String, _ reason: String, isGone: Bool = false, _ outcome: inout Outcome) {
    if isGone, missing.contains(path), access(path, F_OK) != 0,
      let id = ImageID(archive: path, below: library)
    {
      outcome.removed.append(id)
      if asJSON {
        Output.json(["archive": .text(path), "removed": .flag(true), "reason": .text(reason)])
      } else {
        Output.result(Output.oneLine("\(path): removed from the catalog: \(reason)") + "\n")
      }
      return
    }
    outcome.left += 1
    if asJSON {
      Output.json(["archive": .text(path), "repaired": .flag(false), "reason": .text(reason)])
    }
    Output.error("\(path): left as it is: \(reason)")
  }

  /// A line of a build's output about an image.
  private struct Report: Decodable {
    let id: ImageID?
    let status: String
    let reason: String?
  }

  /// Runs the program with these arguments.
  ///
  /// - Returns: its reports by image; its exit code, `nil` if a signal ended it; the number of the code or signal.
  private func build(
    _ arguments: [String], input: [String: String]
  ) throws(StorageError) -> (reports: [ImageID: Report], exit: ExitCode?, status: Int32) {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe")
    process.arguments = arguments
    // The archive was built by its own options alone.
    let kept = ["ZIGGURAT_MEMORY_LIMIT", "ZIGGURAT_IMAGE_TIMEOUT"]
    process.environment = ProcessInfo.processInfo.environment.filter { name, _ in
      !name.hasPrefix("ZIGGURAT_") || kept.contains(name)
    }
    process.standardOutput = output
    do {
      let file = FileManager.default.temporaryDirectory.appending(path: "ziggurat-\(UUID().uuidString)")
      try JSONEncoder().encode(input).write(to: file, options: .withoutOverwriting)
      defer { try? FileManager.default.removeItem(at: file) }
      process.standardInput = try FileHandle(forReadingFrom: file)
      try process.run()
    } catch {
      throw StorageError("start a build", "\(error)")
    }
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    var reports: [ImageID: Report] = [:]
    for line in text.split(separator: UInt8(ascii: "\n")) {
      guard let report = try? JSONDecoder().decode(Report.self, from: line), let id = report.id else {
        continue
      }
      reports[id] = report
    }
    let isOver = process.terminationReason == .exit
    return (reports, isOver ? ExitCode(number: process.terminationStatus) : nil, process.terminationStatus)
  }

  /// Returns the options of a build from this line of its record; nil if the line is not from this program.
  static func arguments(_ summary: String) -> [String]? {
    let names = [
      "tile": "tile-size", "format": "format", "fidelity": "fidelity", "raw": "raw", "quality": "quality",
      "background": "background", "intent": "intent", "profile": "profile", "channels": "channels",
      "dpi": "dpi", "window": "window", "bands": "bands",
      "downsample": "downsample", "scene": "scene", "depth": "depth", "time": "time",
    ]
    var arguments: [String] = []
    let fields = summary.split(separator: " ")
    guard let version = fields.first, Int(version) != nil else { return nil }
    for field in fields.dropFirst() {
      let parts = field.split(separator: "=", maxSplits: 1)
      // Options of earlier versions, whose values now follow from others.
      if ["size", "subsampling"].contains(parts.first) { continue }
      if let argument = ["linear": "--downsample=linear", "associated": "--associated"][field] {
        arguments.append(argument)
      } else if parts.count == 2, let name = names[String(parts[0])] {
        // Channel names contain spaces, which separate options here.
        let value =
          switch name {
          case "channels": parts[1].removingPercentEncoding ?? String(parts[1])
          // `auto` with the number of its rule.
          case "dpi" where parts[1].hasPrefix("auto"): "auto"
          default: String(parts[1])
          }
        arguments.append("--\(name)=\(value)")
      } else {
        return nil
      }
    }
    return arguments
  }
}
