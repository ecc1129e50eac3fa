import PyramidBuilding
import TileStorage

extension TileFormat {
  /// The names on the command line: `jpeg, png`.
  static var names: String { allCases.map(\.name).joined(separator: ", ") }
}

extension BuildOptions {
  /// Options of builds that determine how the pixels of a source become tiles.
  static let arguments: [Option] = [
    tilesOptions, imagesOptions, stacksOptions, removedOptions,
  ].flatMap { $0 }

  private static let tilesOptions = [
    Option(
      "tile-size", "N", default: "512", isCommon: true, help: "Side of a tile in level pixels, an even number"
    ),
    Option(
      "format", "FORMAT", default: "jpeg", isCommon: true,
      help: "Tile format: \(TileFormat.names), or auto: webp for images with alpha, else jpeg"),
    Option(
      "quality", "N", default: "80", isCommon: true,
      help: "Quality of lossy tiles, 1 to 100; JPEG has full chroma resolution from 90 on"),
    Option(
      "fidelity", "MODE", default: "auto",
      help: "Fidelity to the source: exact, fast, lossless (reuse DCT coefficients) or auto"),
    Option(
      "intent", "INTENT", default: "perceptual",
      help: "Rendering intent of ICC conversions: perceptual, relative, saturation or absolute"),
    Option(
      "profile", "MODE", default: "srgb",
      help: "Colour profile: srgb converts; keep stores the profile of RGB and gray images in every tile"),
    Option(
      "downsample", "MODE", default: "auto", was: Option.FormerName(flag: "linear-light", value: "linear"),
      Option.FormerName(flag: "linear", value: "linear"),
      help:
        "Level reduction: mean, linear (mean of light), nearest, mode or auto (mode for label images, else mean)"
    ),
    Option(
      "background", "R,G,B", default: "255,255,255", isCommon: true, help: "Colour behind transparent pixels"),
  ].grouped(.tiles)

  private static let imagesOptions = [
    Option(
      "window", "LOW,HIGH", default: "the values in use",
      help: "Black and white points above 8 bits: 0,4095, p0.5,p99.5, auto or full; / between channels"),
    Option("bands", "R,G,B", help: "Bands to show, counted from 1: three for R,G,B or one for gray"),
    Option(
      "raw", "MODE", default: "camera",
      help: "RAW files: camera develops the sensor data, preview takes the embedded JPEG"),
    Option("associated", help: "Include label, macro and thumbnail of slides as ID/label, …"),
    Option(
      "fail-on", "DAMAGE", default: "none",
      help: "Damage that rejects a source: none, truncated, error (also lost pixels) or warning (any)"),
  ].grouped(.images)

  private static let stacksOptions = [
    Option(
      "channels", "LIST", default: "all, or the first 7 of more",
      help: "Channels of a stack, by number from 1 or by \"name\""),
    Option("scene", "N", default: "1", help: "Image of a multi-image OME-TIFF; all makes each a page"),
    Option("depth", "N", default: "the middle one", help: "Plane of a stack in depth, counted from 1"),
    Option("time", "N", default: "1", help: "Time point of a stack, counted from 1"),
    Option(
      "dpi", "N", default: "auto",
      help: "Resolution of PDF and SVG; auto is the scan's of a PDF page, or 300; 96 for SVG"),
  ].grouped(.stacks)

  private static let removedOptions = [
    Option(removed: "subsampling", "MODE", withReason: "--quality 90 and more give full chroma resolution"),
    Option(removed: "size", "N", withReason: "--dpi sets the size of an SVG"),
  ]

  init(_ arguments: Arguments) throws(UsageError) {
    self.init()
    if let size = try arguments.int("tile-size", in: Self.tileSizes) {
      guard size % 2 == 0 else { throw arguments.invalid("tile-size", expected: "an even number") }
      self.tileSize = size
    }
    if arguments.string("format") == "auto" {
      self.choosesFormat = true
    } else if let format = try arguments.value(
      "format", expected: "\(TileFormat.names) or auto", { TileFormat(fileExtension: $0) })
    {
      self.format = format
      self.choosesFormat = false
    }
    if let fidelity = try arguments.value(
      "fidelity", expected: "exact, fast, lossless or auto", { Fidelity(name: $0) })
    {
      self.fidelity = fidelity
    }
    if let quality = try arguments.int("quality", in: 1...100) { self.quality = quality }
    if let intent = try arguments.value(
      "intent", expected: "perceptual, relative, saturation or absolute", { RenderingIntent(name: $0) })
    {
      self.intent = intent
    }
    if let downsampling = try arguments.value(
      "downsample", expected: "auto, mean, linear, nearest or mode", { Downsampling(name: $0) })
    {
      self.downsampling = downsampling
    }
    if let keeps = try arguments.value(
      "profile", expected: "srgb or keep", { ["srgb": false, "keep": true][$0] })
    {
      self.keepsProfile = keeps
    }
    // Only the curve of sRGB is known.
    if self.downsampling == .linear, self.keepsProfile {
      throw .conflict("--downsample linear", "--profile keep")
    }
    if let failOn = try arguments.value(
      "fail-on", expected: "none, truncated, error or warning", { FailOn(name: $0) })
    {
      self.failOn = failOn
    }
    try setDrawing(arguments)
    if let colour = try arguments.colour("background") { self.background = colour }
  }
}

extension BuildOptions {
  /// Reads the options that determine the pixels of a source.
  private mutating func setDrawing(_ arguments: Arguments) throws(UsageError) {
    if arguments.string("dpi") != "auto" { resolution = try arguments.int("dpi", in: 1...10_000) }
    if let window = try arguments.value(
      "window",
      expected: "auto, full, or LOW,HIGH, as 0,4095 or p0.5,p99.5; several with / between, for channels",
      { SampleWindow(name: $0) })
    {
      self.window = window
    }
    channels =
      try arguments.value("channels", expected: "names or numbers, as DAPI,2") { text in
        text.utf8.count <= 1 << 16 ? ChannelNames.list(text) : nil
      } ?? channels
    if let choice = try arguments.value(
      "raw", expected: "camera or preview", { RawChoice(rawValue: $0) })
    {
      raw = choice
    }
    if let scene = try arguments.value(
      "scene", expected: "a number from 1, or all", { SceneChoice(name: $0) })
    {
      self.scene = scene
    }
    depth = try arguments.int("depth", in: 1...1_000_000)
    time = try arguments.int("time", in: 1...1_000_000)
    keepsAssociated = try arguments.flag("associated")
    bands =
      try arguments.value("bands", expected: "one number or three, counted from 1") { text in
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        let bands = parts.compactMap { $0 }.filter { (1...1000).contains($0) }
        return parts.count == bands.count && [1, 3].contains(bands.count) ? bands : nil
      } ?? bands
  }
}
