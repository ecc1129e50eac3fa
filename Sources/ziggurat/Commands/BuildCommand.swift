import Foundation
import PyramidBuilding
import TileStorage

enum BuildCommand: Command {
  static let name = "build"
  static let usage = "SOURCE… --library DIR"
  static let summary = "Tile images, folders (searched to any depth) or globs into a library."
  static let options =
    [
      Option("library", "DIR", help: "where the archives go; made if missing")
    ] + BuildOptions.arguments + [
      Option("book", help: "each folder of page scans is one book: its images are the pages ID/1, ID/2, …"),
      Option("jobs", "N", help: "threads (default: all cores)"),
      Option(
        "memory-limit", "MB", help: "for all images in work together (default: a quarter of the machine's)"),
      Option("image-timeout", "SECONDS", help: "that one image may take (default: 600)"),
      Option("force", help: "build again what is there and unchanged"),
      PruneMode.options[0], PruneMode.options[1],
      Option("watch", help: "then stay, and build what is added or changed until Ctrl-C"),
      Option("space", help: "seal the archives into the private space that a password opens"),
      PasswordPrompt.optionOfSpace,
      Option("dry-run", help: "tell what would be done and do nothing"),
      Option("json", help: "one JSON object a line per image on stdout"),
      Option("quiet", help: "say nothing but failures"),
    ]

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    guard !arguments.operands.isEmpty else {
      throw UsageError("the source is missing: ziggurat build \(usage)")
    }
    let library = try arguments.required("library")
    let isQuiet = try arguments.flag("quiet")
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
    let watches = try arguments.flag("watch")
    if watches, isDryRun { throw UsageError("--watch and --dry-run do not go together") }
    let isPrivate = try arguments.flag("space")
    let imageTimeout = try arguments.int("image-timeout", in: 1...1_000_000) ?? 600
    if let code = ProgramCells.start(options, takesUncommon: true, builds: true) { return code }
    var store: any ArchiveStore = FolderStore(library: library)
    if isPrivate {
      SpaceDoor.forbidTemporaryFiles()
      do { store = try SpaceDoor.open(library, arguments) } catch { return error.exitCode }
    }
    var builder = LibraryBuilder(
      store: store, options: options, jobs: jobs, isCancelled: { Interruption.isAsked })
    (builder.isDryRun, builder.force, builder.imageTimeout) = (isDryRun, force, imageTimeout)

    Interruption.listen()
    do {
      try builder.prepare()
    } catch {
      Output.error(error.description)
      return error.isTemporary ? .temporary : .someFailed
    }
    var round = BuildRound(
      builder: builder, library: library, isPrivate: isPrivate, operands: arguments.operands,
      asBooks: asBooks, prunes: prunes, watches: watches,
      memoryLimit: memoryLimit, isQuiet: isQuiet, asJSON: asJSON)
    round.keepsDeleted = keepsDeleted.map { $0 * 3600 }
    let code = round.run()
    return watches && code != .interrupted ? round.watch() : code
  }
}
