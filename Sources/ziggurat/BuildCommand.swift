import Foundation
import PyramidBuilding
import TileStorage

enum BuildCommand: Command {
  static let name = "build"
  static let usage = "SOURCE… --library DIR"
  static let summary = "Tile images, folders (searched to any depth) or globs into a library."
  static let options = [
    Option("library", "DIR", help: "where the archives go; made if missing"),
    Option("tile-size", "512", help: "level pixels along a tile's side, even"),
    Option(
      "format", "jpeg",
      help: "of the tiles: jpeg, png, webp, avif, or auto: webp for images with alpha, else jpeg"),
    Option("fidelity", "auto", help: "exact, fast, lossless or auto: how near to the source, see the README"),
    Option("quality", "80", help: "of JPEG, WebP and AVIF tiles, 1 to 100"),
    Option("subsampling", "auto", help: "of JPEG tiles: 420, 444, or auto: 444 from quality 90 on"),
    Option(
      "intent", "perceptual",
      help: "of conversions to sRGB by ICC profiles: perceptual, relative, saturation or absolute"),
    Option(
      "profile", "srgb", help: "srgb converts; keep leaves RGB and gray as they are, with it in every tile"),
    Option("linear", help: "shrink in linear light: fine bright detail keeps its brightness"),
    Option("background", "R,G,B", help: "what transparent pixels are laid over (255,255,255)"),
    Option("book", help: "each folder of page scans is one book: its images are the pages ID/1, ID/2, …"),
    Option("jobs", "N", help: "threads (default: all cores)"),
    Option(
      "memory-limit", "MB", help: "for all images in work together (default: a quarter of the machine's)"),
    Option("force", help: "build again what is there and unchanged"),
    Option("prune", help: "remove archives whose sources are not among those given any more"),
    Option("watch", help: "then stay, and build what is added or changed until Ctrl-C"),
    Option("space", help: "seal the archives into the private space that a password opens"),
    PasswordPrompt.option,
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
    let options = try buildOptions(arguments)
    let jobs = try arguments.int("jobs", in: 1...1024) ?? ProcessInfo.processInfo.activeProcessorCount
    let memoryLimit =
      try arguments.int("memory-limit", in: 64...(1 << 30)).map { $0 << 20 }
      ?? Int(ProcessInfo.processInfo.physicalMemory / 4)
    let (isDryRun, force) = (try arguments.flag("dry-run"), try arguments.flag("force"))
    let prunes = try arguments.flag("prune")
    let asBooks = try arguments.flag("book")
    let watches = try arguments.flag("watch")
    if watches, isDryRun { throw UsageError("--watch and --dry-run do not go together") }
    let isPrivate = try arguments.flag("space")
    var store: any ArchiveStore = FolderStore(library: library)
    if isPrivate {
      SpaceDoor.forbidTemporaryFiles()
      do { store = try SpaceDoor.open(library, arguments) } catch { return error.exitCode }
    }
    var builder = LibraryBuilder(
      store: store, options: options, jobs: jobs, isCancelled: { Interruption.isAsked })
    (builder.isDryRun, builder.force) = (isDryRun, force)

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
    let code = round.run()
    return watches && code != .interrupted ? round.watch() : code
  }

  private static func buildOptions(_ arguments: Arguments) throws(UsageError) -> BuildOptions {
    var options = BuildOptions()
    if let size = try arguments.int("tile-size", in: BuildOptions.tileSizes) {
      guard size % 2 == 0 else {
        throw UsageError("\(arguments.spelled("tile-size")) is '\(size)'; it takes an even number")
      }
      options.tileSize = size
    }
    if let name = arguments.string("format") {
      options.choosesFormat = name == "auto"
      if !options.choosesFormat {
        guard let format = TileFormat(fileExtension: name) else {
          throw UsageError(
            "\(arguments.spelled("format")) is '\(name)'; it takes jpeg, png, webp, avif or auto")
        }
        options.format = format
      }
    }
    if let name = arguments.string("fidelity") {
      guard let fidelity = Fidelity(name: name) else {
        throw UsageError(
          "\(arguments.spelled("fidelity")) is '\(name)'; it takes exact, fast, lossless or auto")
      }
      options.fidelity = fidelity
    }
    if let quality = try arguments.int("quality", in: 1...100) { options.quality = quality }
    if let name = arguments.string("subsampling") {
      guard let subsampling = Subsampling(name: name) else {
        throw UsageError("\(arguments.spelled("subsampling")) is '\(name)'; it takes auto, 420 or 444")
      }
      options.subsampling = subsampling
    }
    if let name = arguments.string("intent") {
      guard let intent = RenderingIntent(name: name) else {
        throw UsageError(
          "\(arguments.spelled("intent")) is '\(name)'; it takes perceptual, relative, saturation or absolute"
        )
      }
      options.intent = intent
    }
    options.shrinksLinearly = try arguments.flag("linear")
    if let name = arguments.string("profile") {
      guard ["srgb", "keep"].contains(name) else {
        throw UsageError("\(arguments.spelled("profile")) is '\(name)'; it takes srgb or keep")
      }
      options.keepsProfile = name == "keep"
    }
    if options.shrinksLinearly, options.keepsProfile {
      throw UsageError("--linear and --profile keep do not go together: only sRGB's curve is known")
    }
    if let colour = try arguments.colour("background") { options.background = colour }
    return options
  }
}
