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
    Option("fidelity", "auto", help: "exact, fast, lossless or auto: how near to the source"),
    Option("quality", "80", help: "of lossy tiles, 1 to 100"),
    Option("subsampling", "auto", help: "of JPEG tiles: 420, 444, or auto: 444 from quality 90 on"),
    Option(
      "intent", "perceptual",
      help: "of conversions to sRGB by ICC profiles: perceptual, relative, saturation or absolute"),
    Option(
      "profile", "srgb", help: "srgb converts; keep leaves RGB and gray as they are, with it in every tile"),
    Option("linear", help: "shrink in linear light: fine bright detail keeps its brightness"),
    Option(
      "downsample", "auto",
      help:
        "how levels shrink: mean, nearest, mode; auto: mode for label images, else mean"),
    Option(
      "dpi", "auto",
      help: "resolution of PDF and SVG; auto (default): of a PDF page that of its scan, or 300"),
    Option("size", "N", help: "pixels along the longer side of SVG (default: as large as it says)"),
    Option(
      "window", "LOW,HIGH",
      help:
        "black and white of more than 8 bits, 0,4095 or p0.5,p99.5; or auto, full; / between channels"),
    Option(
      "bands", "R,G,B", help: "which of a picture's bands are shown, counted from 1: three, or one as gray"),
    Option(
      "channels", "LIST",
      help:
        "channels of a stack by numbers from 1 or \"names\" (default: all, of over 7 the first 7)"),
    Option("scene", "N", help: "image of an OME-TIFF that has several, or all, each as a page (default 1)"),
    Option("depth", "N", help: "plane of a stack in depth, counted from 1 (default: the middle one)"),
    Option("time", "N", help: "time point of a stack, counted from 1 (default 1)"),
    Option(
      "raw", "camera",
      help: "of RAW files: camera (developed from the sensor) or preview (the camera's full-size JPEG)"),
    Option(
      "associated", help: "of slides also label, macro and thumbnail, as ID/label, …: labels show names"),
    Option(
      "fail-on", "none",
      help: "damage that refuses a source: none, truncated, error (lost pixels) or warning (any)"),
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
    if let name = arguments.string("downsample") {
      guard let downsampling = Downsampling(name: name) else {
        throw UsageError(
          "invalid value '\(name)' for \(arguments.spelled("downsample")) (expected auto, mean, nearest or mode)"
        )
      }
      self.downsampling = downsampling
    }
    if self.shrinksLinearly, self.picksPixels {
      throw UsageError("--linear cannot be used with --downsample \(self.downsampling.name)")
    }
    if let name = arguments.string("profile") {
      guard ["srgb", "keep"].contains(name) else {
        throw UsageError("\(arguments.spelled("profile")) is '\(name)'; it takes srgb or keep")
      }
      self.keepsProfile = name == "keep"
    }
    if self.shrinksLinearly, self.keepsProfile {
      throw UsageError("--linear and --profile keep do not go together: only sRGB's curve is known")
    }
    if let name = arguments.string("fail-on") {
      guard let failOn = FailOn(name: name) else {
        throw UsageError(
          "invalid value '\(name)' for \(arguments.spelled("fail-on")) "
            + "(expected none, truncated, error or warning)")
      }
      self.failOn = failOn
    }
    try setDrawing(arguments)
    if let colour = try arguments.colour("background") { self.background = colour }
  }
}

extension BuildOptions {
  /// Those that decide what a source's pixels are.
  private mutating func setDrawing(_ arguments: Arguments) throws(UsageError) {
    if arguments.string("dpi") != "auto" { resolution = try arguments.int("dpi", in: 1...10_000) }
    vectorSide = try arguments.int("size", in: 1...1_000_000)
    if resolution != nil, vectorSide != nil { throw UsageError("--dpi and --size do not go together") }
    if let name = arguments.string("window") {
      guard let window = SampleWindow(name: name) else {
        throw UsageError(
          "invalid value '\(name)' for \(arguments.spelled("window")) (expected auto, full, or LOW,HIGH, "
            + "as 0,4095 or p0.5,p99.5; several with / between, for channels)")
      }
      self.window = window
    }
    if let text = arguments.string("channels") {
      guard text.utf8.count <= 1 << 16, let parts = ChannelNames.list(text) else {
        throw UsageError(
          "invalid value '\(text)' for \(arguments.spelled("channels")) (expected names or numbers, as DAPI,2)"
        )
      }
      channels = parts
    }
    if let name = arguments.string("raw") {
      guard let choice = RawChoice(rawValue: name) else {
        throw UsageError(
          "invalid value '\(name)' for \(arguments.spelled("raw")) (expected camera or preview)")
      }
      raw = choice
    }
    if let name = arguments.string("scene") {
      guard let scene = SceneChoice(name: name) else {
        throw UsageError(
          "invalid value '\(name)' for \(arguments.spelled("scene")) (expected a number from 1, or all)")
      }
      self.scene = scene
    }
    depth = try arguments.int("depth", in: 1...1_000_000)
    time = try arguments.int("time", in: 1...1_000_000)
    keepsAssociated = try arguments.flag("associated")
    if let text = arguments.string("bands") {
      let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
      let bands = parts.compactMap { $0 }.filter { (1...1000).contains($0) }
      guard parts.count == bands.count, [1, 3].contains(bands.count) else {
        throw UsageError(
          "\(arguments.spelled("bands")) is '\(text)'; it takes one number or three, counted from 1")
      }
      self.bands = bands
    }
  }
}
