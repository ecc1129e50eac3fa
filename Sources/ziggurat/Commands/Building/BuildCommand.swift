import Files
import Foundation
import Intake
import ObjectStore
import PyramidBuilding
import TileStorage

enum BuildCommand: Command {
  static let name = "build"
  static let usage = "SOURCE… --library DIR"
  static let summary = "Tile images, folders (searched to any depth) or globs into a library."
  /// How sources are called.
  static let sourceOptions = [
    Option(
      "book",
      help: "each folder of page scans is one book: its images are the pages ID/NAME, in natural order"),
    Option("prefix", "NAME", help: "what all ids begin with, NAME/…: for a second source of one library"),
    Option(
      "follow-links",
      help: "follow links that lead out of a source folder (default: pass them over and report them)"),
  ]
  static let options =
    [
      Option("library", "DIR", help: "where the archives go, made if missing; or s3://BUCKET/PREFIX")
    ] + BuildOptions.arguments + [SecretFile.pdfPasswordOption] + sourceOptions + PlannedBuild.options + [
      Option("jobs", "N", help: "threads (default: all cores)"),
      Option(
        "memory-limit", "MB", help: "for all images in work together (default: a quarter of the machine's)"),
      Option("image-timeout", "SECONDS", help: "that one image may take (default: 600)"),
      Option(
        "mend", "FILE",
        help:
          "build anew the images of FILE alone: JSON of ids and sources' digests; -: stdin"
      ),
      Option("keep-old", help: "leave as it is what this version of the program alone would build otherwise"),
      Option("force", help: "build again what is there and unchanged"),
      Option("take-ownership", help: "replace images of other sources that have the same ids"),
      Option(
        "known-failures", "MODE",
        help: "report or ignore failures that an earlier build of the same source reported (default report)"
      ),
      PruneMode.options[0], PruneMode.options[1],
      Option("watch", help: "then stay, and build what is added or changed until Ctrl-C"),
      Option("space", help: "seal the archives into the private space that a password opens"),
      PasswordPrompt.optionOfSpace,
      Option("dry-run", help: "tell what would be done and do nothing"),
      Option("json", help: "one JSON object a line per image on stdout"),
      Option(
        "metrics-file", "FILE",
        help: "file for the outcome of the build, for node_exporter's textfile collector"),
    ] + Verbosity.options

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    guard !arguments.operands.isEmpty || arguments.string("plan") != nil else {
      throw UsageError("the source is missing: ziggurat build \(usage)")
    }
    let library = try arguments.required("library")
    let verbosity = try Verbosity(arguments)
    let asJSON = try arguments.flag("json")
    let options = try BuildOptions(arguments)
    let jobs = try arguments.int("jobs", in: 1...1024) ?? ProcessInfo.processInfo.activeProcessorCount
    let memoryLimit =
      try arguments.int("memory-limit", in: 64...(1 << 30)).map { $0 << 20 }
      ?? Int(ProcessInfo.processInfo.physicalMemory / 4)
    let (isDryRun, force) = (try arguments.flag("dry-run"), try arguments.flag("force"))
    let prunes = try PruneMode(arguments)
    let keepsDeleted = try arguments.int("keep-deleted", in: 0...87_600)
    let asBooks = try arguments.flag("book")
    let followsLinks = try arguments.flag("follow-links")
    let watches = try arguments.flag("watch")
    let isFromStore = arguments.operands.contains(where: ObjectLibrary.isMeant)
    if watches, isFromStore { throw UsageError("--watch watches folders, and no object store") }
    if isDryRun, arguments.string("metrics-file") != nil {
      throw UsageError("--metrics-file cannot be used with --dry-run")
    }
    if watches, isDryRun { throw UsageError("--watch and --dry-run do not go together") }
    let prefix = try Self.prefix(arguments)
    let isPrivate = try arguments.flag("space")
    if isPrivate, isFromStore {
      throw UsageError("--space and sources in a store do not go together: copies of them would lie open")
    }
    if isPrivate, ObjectLibrary.isMeant(by: library) {
      throw UsageError("--space and an object store do not go together: a private space is a folder's")
    }
    let mending = try Self.mending(arguments)
    if mending != nil, prunes != .nothing || watches || isPrivate {
      throw UsageError("--mend does not go together with --prune, --watch and --space")
    }
    let planned = try PlannedBuild(arguments, isDryRun: isDryRun)
    let ledger = arguments.string("ledger")
    let imageTimeout = try arguments.int("image-timeout", in: 1...1_000_000) ?? 600
    if let code = ProgramCells.start(options, takesUncommon: true, builds: true) { return code }
    // Only now: every cell begins with what the process knows.
    let pdfPassword = try SecretFile.pdfPassword(arguments)
    var store: any ArchiveStore = FolderStore(library: library)
    if isPrivate {
      SpaceDoor.forbidTemporaryFiles()
      do { store = try SpaceDoor.open(library, arguments) } catch { return error.exitCode }
    }
    var isElsewhere = false
    do {
      if let bucket = try ObjectLibrary.named(library, report: Output.error) {
        (store, isElsewhere) = (bucket.store(), true)
        // A dry run prepares nothing, and tells what is there.
        _ = try bucket.refresh()
      }
    } catch {
      Output.error(error.description)
      return error.isTemporary ? .temporary : .someFailed
    }
    var builder = LibraryBuilder(
      store: store, options: options, jobs: jobs,
      isCancelled: { Interruption.isAsked || BuildRound.isDiskFull.load(ordering: .relaxed) })
    (builder.isDryRun, builder.force, builder.imageTimeout) = (isDryRun, force, imageTimeout)

    builder.pdfPassword = pdfPassword
    builder.onIgnored = { Output.note(Output.oneLine($0.description)) }
    builder.mending = mending
    builder.keepsOld = try arguments.flag("keep-old")
    if builder.keepsOld, force { throw UsageError("--keep-old and --force do not go together") }
    Interruption.listen()
    var opened: PlannedBuild.Opened?
    do {
      opened = try planned?.open()
      if isFromStore || !isPrivate && opened?.plan.isFromElsewhere == true {
        builder.remote = BucketSources(try StoredFiles())
      }
      builder.ledger = try ledger.map { (path) throws(StorageError) in try SourceLedger(path: path) }
      try builder.prepare()
      if let journal = opened?.journal { try builder.store.adopt(journal.lostNotices) }
    } catch {
      Output.error(error.description)
      return error.isTemporary ? .temporary : .someFailed
    }
    var round = BuildRound(
      builder: builder, library: library, isPrivate: isPrivate, operands: arguments.operands,
      asBooks: opened?.plan.asBooks ?? asBooks, prunes: prunes, watches: watches,
      memoryLimit: memoryLimit, verbosity: verbosity, asJSON: asJSON)
    round.ignoresKnownFailures = try Self.ignoresKnownFailures(arguments)
    round.takesOwnership = try arguments.flag("take-ownership")
    round.prefix = opened?.plan.prefix ?? prefix
    round.planned = opened
    round.isElsewhere = isElsewhere
    round.metricsFile = arguments.string("metrics-file")
    round.followsLinks = followsLinks
    round.keepsDeleted = keepsDeleted.map { $0 * 3600 }
    let code = round.run()
    return watches && code != .interrupted ? round.watch() : code
  }

  static func prefix(_ arguments: Arguments) throws(UsageError) -> ImageID? {
    guard let text = arguments.string("prefix") else { return nil }
    guard let id = ImageID(text.hasSuffix("/") ? String(text.dropLast()) : text), !id.isHidden else {
      throw UsageError(
        "\(arguments.spelled("prefix")) is '\(text)'; it takes a name, or several with slashes between")
    }
    return id
  }

  private static func ignoresKnownFailures(_ arguments: Arguments) throws(UsageError) -> Bool {
    switch arguments.string("known-failures") ?? "report" {
    case "report": return false
    case "ignore": return true
    case let other:
      throw UsageError(
        "invalid value '\(other)' for \(arguments.spelled("known-failures")) (expected report or ignore)")
    }
  }

  /// The images that `verify --repair` asks for.
  private static func mending(_ arguments: Arguments) throws(UsageError) -> Mending? {
    guard let file = arguments.string("mend") else { return nil }
    let data =
      file == "-"
      ? FileHandle.standardInput.readDataToEndOfFile() : FileManager.default.contents(atPath: file)
    guard let data, let digests = try? JSONDecoder().decode([String: String].self, from: data) else {
      throw UsageError("--mend \(file): is no JSON object of image ids and digests")
    }
    var images: [ImageID: String] = [:]
    for (text, digest) in digests {
      guard let id = ImageID(text) else { throw UsageError("--mend \(file): '\(text)' is no image's id") }
      images[id] = digest
    }
    return Mending(images)
  }
}
