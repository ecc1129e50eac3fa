import PyramidBuilding
import TileStorage

extension TileFormat {
  /// What the command line takes: `jpeg, png`.
  static var names: String { allCases.map(\.name).joined(separator: ", ") }
}

extension BuildOptions {
  /// Those that decide by which way a source's pixels come to its tiles.
  static let arguments = [
    Option("tile-size", "512", help: "level pixels along a tile's side, even"),
    Option(
      "format", "jpeg",
      help: "of the tiles: \(TileFormat.names), or auto: webp for images with alpha, else jpeg"),
    Option("fidelity", "auto", help: "exact, fast, lossless or auto: how near to the source, see the README"),
    Option("quality", "80", help: "of lossy tiles, 1 to 100"),
    Option("subsampling", "auto", help: "of JPEG tiles: 420, 444, or auto: 444 from quality 90 on"),
    Option(
      "intent", "perceptual",
      help: "of conversions to sRGB by ICC profiles: perceptual, relative, saturation or absolute"),
    Option(
      "profile", "srgb", help: "srgb converts; keep leaves RGB and gray as they are, with it in every tile"),
    Option("linear", help: "shrink in linear light: fine bright detail keeps its brightness"),
    Option("background", "R,G,B", help: "what transparent pixels are laid over (255,255,255)"),
  ]

  init(_ arguments: Arguments) throws(UsageError) {
    self.init()
    if let size = try arguments.int("tile-size", in: Self.tileSizes) {
      guard size % 2 == 0 else {
        throw UsageError("\(arguments.spelled("tile-size")) is '\(size)'; it takes an even number")
      }
      self.tileSize = size
    }
    if let name = arguments.string("format") {
      self.choosesFormat = name == "auto"
      if !self.choosesFormat {
        guard let format = TileFormat(fileExtension: name) else {
          throw UsageError(
            "\(arguments.spelled("format")) is '\(name)'; it takes \(TileFormat.names) or auto")
        }
        self.format = format
      }
    }
    if let name = arguments.string("fidelity") {
      guard let fidelity = Fidelity(name: name) else {
        throw UsageError(
          "\(arguments.spelled("fidelity")) is '\(name)'; it takes exact, fast, lossless or auto")
      }
      self.fidelity = fidelity
    }
    if let quality = try arguments.int("quality", in: 1...100) { self.quality = quality }
    if let name = arguments.string("subsampling") {
      guard let subsampling = Subsampling(name: name) else {
        throw UsageError("\(arguments.spelled("subsampling")) is '\(name)'; it takes auto, 420 or 444")
      }
      self.subsampling = subsampling
    }
    if let name = arguments.string("intent") {
      guard let intent = RenderingIntent(name: name) else {
        throw UsageError(
          "\(arguments.spelled("intent")) is '\(name)'; it takes perceptual, relative, saturation or absolute"
        )
      }
      self.intent = intent
    }
    self.shrinksLinearly = try arguments.flag("linear")
    if let name = arguments.string("profile") {
      guard ["srgb", "keep"].contains(name) else {
        throw UsageError("\(arguments.spelled("profile")) is '\(name)'; it takes srgb or keep")
      }
      self.keepsProfile = name == "keep"
    }
    if self.shrinksLinearly, self.keepsProfile {
      throw UsageError("--linear and --profile keep do not go together: only sRGB's curve is known")
    }
    if let colour = try arguments.colour("background") { self.background = colour }
  }
}
