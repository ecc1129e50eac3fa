import Foundation
import PyramidBuilding
import TileStorage
import ZigguratAdapters
import ZigguratFiles
import ZigguratObjectStore

enum BuildCommand: Command {
  static let name = "build"
  static let usage = "SOURCE… --library DIR"
  static let summary = "Tile images, folders (searched to any depth) or globs into a library."
  /// Options that determine which images a source has, and their ids.
  static let sourceOptions = [
    Option(
      "book", isCommon: true,
      help: "Make each folder of page scans one book, with its images as the pages ID/NAME in natural order"),
    Option("prefix", "NAME", help: "Prefix of all ids, NAME/…: for a second source of one library"),
    Option(
      "follow-links", help: "Follow links that lead out of a source folder, which are otherwise reported"),
  ].grouped(.sources)
  static let options: [Option] = [
    [ConfigFile.option], libraryOptions, BuildOptions.arguments,
    [SecretFile.pdfPasswordOption].grouped(.stacks), sourceOptions, PlannedBuild.options, runsOptions,
    PruneMode.options, spacesOptions, outputOptions, Verbosity.options,
  ].flatMap { $0 }

  private static let libraryOptions = [
    Option("library", "DIR", isCommon: true, help: "Folder for the archives, or s3://BUCKET/PREFIX")
  ].grouped(.library)

  private static let runsOptions = [
    Option("jobs", "N", default: "all cores", isCommon: true, help: "Number of threads"),
    Option(
      "memory-limit", .megabytes, default: "a quarter of the machine's",
      help: "Maximum memory of all images that are built at a time"),
    Option("image-timeout", .seconds, default: "10m", help: "Maximum time for one image"),
    Option("only", "FILE", was: "mend", isHidden: true, help: "JSON of ids and source digests to rebuild"),
    Option(
      "keep-outdated", was: "keep-old",
      help: "Keep archives that differ only because an older version built them"),
    Option("force", isCommon: true, help: "Rebuild unchanged images"),
    Option("take-ownership", help: "Replace images of other sources that have the same ids"),
    Option(
      "known-failures", "MODE", default: "report",
      help: "Failures that an earlier build of the same source reported: report or ignore"),
    Option("watch", isCommon: true, help: "Stay, and build images that are added or changed until Ctrl-C"),
    Option("dry-run", isCommon: true, help: "Report what would be done without doing it"),
  ].grouped(.runs)

  private static let spacesOptions = [
    Option("space", help: "Seal the archives into the private space that a password opens"),
    PasswordPrompt.optionOfSpace,
  ].grouped(.spaces)

  private static let outputOptions = [
    Option("json", isCommon: true, help: "Write one JSON object per image and line to stdout"),
    Option(
      "metrics-file", "FILE",
      help: "File for the outcome of the build, for node_exporter's textfile collector"),
  ].grouped(.output)

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    guard !arguments.operands.isEmpty || arguments.string("plan") != nil else {
      throw arguments.missing("source")
    }
    let library = try arguments.required("library")
    let verbosity = try Verbosity(arguments)
    let asJSON = try arguments.flag("json")
    let options = try BuildOptions(arguments)
    let jobs = try arguments.int("jobs", in: 1...1024) ?? ProcessInfo.processInfo.activeProcessorCount
    let memoryLimit =
      try arguments.quantity("memory-limit", in: 64 << 20...1 << 50)
      ?? Int(ProcessInfo.processInfo.physicalMemory / 4)
    let (isDryRun, force) = (try arguments.flag("dry-run"), try arguments.flag("force"))
    let prunes = try PruneMode(arguments)
    let keepsDeleted = try arguments.quantity("keep-deleted", in: 0...315_360_000)
    let asBooks = try arguments.flag("book")
    let followsLinks = try arguments.flag("follow-links")
    let watches = try arguments.flag("watch")
    let isFromStore = arguments.operands.contains(where: ObjectLibrary.isMeant)
    if watches, isFromStore { throw .conflict("--watch", "sources in an object store") }
    if isDryRun, arguments.string("metrics-file") != nil { throw .conflict("--metrics-file", "--dry-run") }
    if watches, isDryRun { throw .conflict("--watch", "--dry-run") }
    let prefix = try Self.prefix(arguments)
    let isPrivate = try arguments.flag("space")
    // Unencrypted copies of the sources would be made.
    if isPrivate, isFromStore { throw .conflict("--space", "sources in an object store") }
    if isPrivate, ObjectLibrary.isMeant(by: library) {
      throw .conflict("--space", "a library in an object store")
    }
    let rebuildList = try Self.rebuildList(arguments)
    if rebuildList != nil, prunes != .nothing || watches || isPrivate {
      throw .conflict(arguments.spelled("only"), "--prune, --watch and --space")
    }
    let planned = try PlannedBuild(arguments, isDryRun: isDryRun)
    let ledger = arguments.string("digest-cache")
    let imageTimeout = try arguments.quantity("image-timeout", in: 1...2_592_000) ?? 600
    if let code = ProgramWorkers.start(options, takesUncommon: true, builds: true) { return code }
    // Only now, because every sandboxed process starts with a copy of this process's memory.
    let pdfPassword = try SecretFile.pdfPassword(arguments)
    var store: any ArchiveStore = FolderStore(library: library)
    if isPrivate {
      SpaceUnlocker.forbidTemporaryFiles()
      do { store = try SpaceUnlocker.open(library, passwordFile: arguments.string("password-file")) } catch {
        return error.exitCode
      }
    }
    var isElsewhere = false
    do {
      if let bucket = try ObjectLibrary.named(library, report: Output.error) {
        store = bucket.store()
        isElsewhere = true
        // A dry run prepares nothing, and reports the present state.
        _ = try bucket.refresh()
      }
    } catch {
      Output.error(error.description)
      return error.isTemporary ? .temporary : .someFailed
    }
    var builder = LibraryBuilder(
      store: store, options: options, jobs: jobs,
      isCancelled: { SignalHandler.isAsked || BuildRun.isDiskFull.load(ordering: .relaxed) })
    builder.isDryRun = isDryRun
    builder.force = force
    builder.imageTimeout = imageTimeout

    builder.pdfPassword = pdfPassword
    builder.onIgnored = { Output.note(Output.oneLine($0.description)) }
    builder.rebuildList = rebuildList
    builder.keepsOld = try arguments.flag("keep-outdated")
    if builder.keepsOld, force { throw .conflict(arguments.spelled("keep-outdated"), "--force") }
    SignalHandler.listen()
    var opened: PlannedBuild.Opened?
    do {
      if let file = arguments.string("metrics-file") { try BuildMetrics.requireReplaceable(file) }
      opened = try planned?.open()
      if isFromStore || !isPrivate && opened?.plan.isFromElsewhere == true {
        builder.remote = BucketSources(try StoredFiles())
      }
      builder.ledger = try ledger.map { (path) throws(StorageError) in try DigestCache(path: path) }
      try builder.prepare()
      if let journal = opened?.journal { try builder.store.adopt(journal.lostNotices) }
    } catch {
      Output.error(error.description)
      return error.isTemporary ? .temporary : .someFailed
    }
    var round = BuildRun(
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
    round.keepsDeleted = keepsDeleted
    let code = round.run()
    return watches && code != .interrupted ? round.watch() : code
  }

  static func prefix(_ arguments: Arguments) throws(UsageError) -> ImageID? {
    try arguments.value(
      "prefix", expected: "a name, or several with slashes between, none of which ends in .szi, .dzi or .zip"
    ) { text in
      let id = ImageID(text.hasSuffix("/") ? String(text.dropLast()) : text)
      // `~` alone is not an image of a private space, but each image below it would be.
      return id.flatMap { $0.isHidden || $0.page(1).isHidden || $0.page(1).archiveFolder != nil ? nil : $0 }
    }
  }

  private static func ignoresKnownFailures(_ arguments: Arguments) throws(UsageError) -> Bool {
    try arguments.value("known-failures", expected: "report or ignore") {
      ["report": false, "ignore": true][$0]
    } ?? false
  }

  /// Returns the images that `verify --repair` requests.
  private static func rebuildList(_ arguments: Arguments) throws(UsageError) -> RebuildList? {
    guard let file = arguments.string("only") else { return nil }
    let data =
      file == "-"
      ? FileHandle.standardInput.readDataToEndOfFile() : FileManager.default.contents(atPath: file)
    guard let data, let digests = try? JSONDecoder().decode([String: String].self, from: data) else {
      throw arguments.invalid("only", expected: "a file with a JSON object of image ids and digests")
    }
    var images: [ImageID: String] = [:]
    for (text, digest) in digests {
      guard let id = ImageID(text) else {
        throw .invalid(text, for: arguments.spelled("only"), expected: "image ids")
      }
      images[id] = digest
    }
    return RebuildList(images)
  }
}
