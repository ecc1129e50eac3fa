import TileStorage
import ZigguratImaging

/// An image that libvips loads, brought upright and converted to 8-bit sRGB.
final class VipsImageSource: StripSource, StripDecoding {
  let width: Int
  let height: Int
  let layout: PixelLayout
  let steps: [String]
  /// `nil` after the last row has been read.
  private var reader: PixelReader?
  private var picture: SourcePicture
  private let isTIFF: Bool
  private let options: BuildOptions
  /// The first row that could not be decoded.
  private var firstLostRow: Int?
  /// A few rows at a time: every step of libvips' pipeline keeps as many.
  private let rows: PlaneBuffer
  private let sourceRowSize: Int
  /// Bytes of memory for a decoder that holds the whole picture.
  private let developing: Int
  /// The number of pages that are read in parallel.
  private let sourceCount: Int

  /// Bytes of rows that are read at once.
  private static let rowsSize = 8 << 20
  /// The number of rows that libvips keeps in loaders and in pipeline steps, as measured.
  private static let usualRowsInFlight = 256
  private let rowsInFlight: Int

  var memory: Int {
    rowsInFlight * sourceRowSize * sourceCount + Self.rowsSize + (16 << 20) + developing
  }

  /// - Parameters:
  ///   - image: an image opened for sequential access.
  ///   - picture: the picture of the image, to be opened again.
  init(_ image: Image, of picture: SourcePicture, options: BuildOptions) throws(BuildError) {
    sourceRowSize = image.rowSize
    developing = picture.raw?.memory ?? picture.dicom?.memory ?? image.decoderMemory
    // A rotated image is kept whole.
    let held = image.rowsHeld.map { Self.needsRandomAccess(image) ? image.height : $0 }
    rowsInFlight = Self.usualRowsInFlight + (held ?? 0)
    sourceCount = picture.stack?.channels.count ?? 1
    do {
      let (image, steps) = try Self.prepared(image, picture, options)
      width = image.width
      height = image.height
      layout = .interleaved(image.pixelBands)
      self.steps = steps
      self.picture = picture
      isTIFF = Image.loader(ofPath: picture.path) == "tiffload"
      self.options = options
      reader = PixelReader(image)
      rows = PlaneBuffer(
        layout, width: image.width, height: min(64, max(1, Self.rowsSize / (image.width * image.bands))))
    } catch { throw BuildError(picture.path, error) }
  }

  func makeDecoder() -> any StripDecoding { self }

  func decode(piece: Int, into strip: Strip) throws(BuildError) {
    for y in stride(from: 0, to: strip.height, by: rows.height) {
      let count = min(rows.height, strip.height - y)
      try read(count, from: strip.row * strip.tileSize + y)
      strip.put(rows.planes, rows: 0..<count, width: width, x: 0, y: y)
    }
  }

  private func read(_ count: Int, from y: Int) throws(BuildError) {
    if firstLostRow == nil {
      do throws(ImagingError) {
        try reader?.read(rows: count, from: y, to: rows.planes[0].base, stride: rows.planes[0].stride)
        // Several threads may decode strips, each with its own log of libvips.
        if isTIFF { picture.log.add(DecoderWarnings.take(ofLoader: "tiffload")) }
        return
      } catch {
        if try readDamaged(count, from: y) { return }
        let reason = error.reason(forFileAt: picture.path)
        guard y > 0 else { throw BuildError(picture.path, error) }
        firstLostRow = y
        picture.log.add(
          DecoderMessage.isAboutEnd(reason) ? .truncated : .error,
          "\(reason): \(height - y) of \(height) rows are missing")
      }
    }
    for row in 0..<count {
      (rows.planes[0].base + row * rows.planes[0].stride).update(
        repeating: 0, count: width * layout.bandsPerPlane)
    }
  }

  /// Reads these rows and the following ones that can be decoded in a damaged file.
  ///
  /// - Returns: false if no further rows can be decoded.
  private func readDamaged(_ count: Int, from y: Int) throws(BuildError) -> Bool {
    guard !picture.isDamaged, picture.associated == nil, picture.raw == nil else { return false }
    picture = SourcePicture(damaged: picture)
    do throws(ImagingError) {
      let (image, _) = try Self.prepared(picture.open(.sequential), picture, options)
      guard image.width == width, image.height == height, .interleaved(image.pixelBands) == layout else {
        return false
      }
      let reader = PixelReader(image)
      try reader.read(rows: count, from: y, to: rows.planes[0].base, stride: rows.planes[0].stride)
      self.reader = reader
      return true
    } catch { return false }
  }

  func finish() throws(BuildError) -> SourceDamage? {
    // Some decoders report when they are closed.
    reader = nil
    let loader = Image.loader(ofPath: picture.path)
    if loader == "pdfload" {
      picture.log.add(PDFDocument.damage(ofFileAt: picture.path))
    } else if firstLostRow == nil, loader != "jp2kload" || !picture.isDamaged {
      picture.log.add(DecoderWarnings.take(ofLoader: loader))
    }
    if loader == "heifload", firstLostRow == nil {
      picture.log.add(HEIFPicture.damage(ofFileAt: picture.path))
    }
    let isWrong = picture.log.worst?.kind == .error
    for page in picture.tiffPages {
      TIFFChecksums(path: picture.path, page: page)?.check(picture.log, readsAll: !isWrong)
    }
    return picture.log.worst
  }

  private static func prepared(
    _ source: Image, _ picture: SourcePicture, _ options: BuildOptions
  ) throws(ImagingError) -> (Image, [String]) {
    if let stack = picture.stack, !stack.isPage {
      return try composite(stack, picture.path, options, damagedAsIn: picture.isDamaged ? picture.log : nil)
    }
    if case .channels(let windows) = options.window, source.sampleType != .byte {
      throw ImagingError(
        opening: picture.path,
        "--window has windows for \(windows.count) channels, and it is not a stack of channels")
    }
    var steps = source.sampleNotes
    var image = source
    let kinds = ["gifload": "frames", "webpload": "frames", "jxlload": "frames", "heifload": "pictures"]
    if let several = image.int("n-pages"), several > 1,
      let kind = Image.loader(ofPath: picture.path).flatMap({ kinds[$0] })
    {
      steps.append(BuildRecord.first(of: "\(several) \(kind)"))
    }
    if image.orientation != 1 {
      let order =
        Image.loader(ofPath: picture.path) == "radload"
        ? (try? SourceFile(path: picture.path)).flatMap(RadianceHeader.init)?.order : nil
      steps.append("turned upright from \(order ?? "EXIF orientation \(image.orientation)")")
      if needsRandomAccess(image) { image = try picture.open(.random) }
      image = try image.autorotated()
    }
    let open = { () throws(ImagingError) in try picture.open(.sequential) }
    image = try eightBits(image, options, &steps, open)
    if image.hasAlpha, !options.keepsAlpha {
      steps.append("laid over \(options.background.map(String.init).joined(separator: ","))")
      image = try image.flattened(over: options.background)
    }
    return (image, steps)
  }

  /// Whether an image cannot be brought upright while it streams, because its rows are columns of the file, or in
  /// reverse order. A left-to-right mirror can.
  private static func needsRandomAccess(_ image: Image) -> Bool { image.orientation > 2 }

  /// Returns the image within its window, as 8-bit sRGB or gray.
  static func eightBits(
    _ image: Image, _ options: BuildOptions, isChannel: Bool = false, _ steps: inout [String],
    _ open: () throws(ImagingError) -> Image
  ) throws(ImagingError) -> Image {
    let windowed = try windowed(image, options, isChannel: isChannel, &steps, open)
    let converted = try inSRGB(windowed, options, &steps, open)
    return converted.isBytes ? converted : try inBytes(converted, &steps, open).black(whereNaNIn: converted)
  }
}

/// Conversion of colours to 8-bit sRGB or gray.
extension VipsImageSource {
  private static func inSRGB(
    _ source: Image, _ options: BuildOptions, _ steps: inout [String],
    _ open: () throws(ImagingError) -> Image
  ) throws(ImagingError) -> Image {
    let intent = options.intent
    var image = try integersForProfile(source, &steps, open)
    let isKept = options.keepsProfile && EmbeddedProfile.canBeKept(image, options)
    // A profile does not define values beyond black and white.
    if !isKept, image.sampleType != .float { image = try byProfile(image, intent, &steps) }
    if image.interpretation == "cmyk" {
      image = try image.convertedFromBareCMYK(intent: intent.name)
      let rendering =
        intent == .relative || intent == .absolute ? intent.name : "relative with black point compensation"
      steps.append("converted from cmyk without a profile to srgb by libvips' own, \(rendering)")
    }
    if ["lab", "labs", "labq"].contains(image.interpretation) {
      steps.append("converted from \(image.interpretation) to srgb, \(intent.name)")
      image = try image.convertedFromLab(intent: intent.name)
    }
    // A requested window clips on purpose.
    if image.interpretation == "scrgb", [nil, .full].contains(options.window) {
      try reportClipping(image, &steps, open)
    }
    let isGray = image.bands < 3 && ["b-w", "grey16"].contains(image.interpretation)
    let space = isGray ? "b-w" : "srgb"
    if image.interpretation != space {
      steps.append("converted from \(image.interpretation) to \(space)")
      image = try image.converted(to: space)
    }
    let most = isGray ? 2 : 4
    return image.bands > most ? try image.bands(from: 0, count: most) : image
  }

  /// Returns a picture of floats with a profile in 16 bits, because profiles apply to integers; any other picture
  /// unchanged.
  private static func integersForProfile(
    _ image: Image, _ steps: inout [String], _ open: () throws(ImagingError) -> Image
  ) throws(ImagingError) -> Image {
    guard image.sampleType == .float, image.embeddedProfile.flatMap(ICCProfile.init) != nil else {
      return image
    }
    let colours = image.bands - (image.hasAlpha ? 1 : 0)
    let (least, greatest) = try Image.range(ofFirst: colours, open)
    guard least >= 0, greatest <= (image.hasAlpha ? 1.0001 : 1) else {
      steps.append("embedded profile ignored: values from \(least) to \(greatest) are not those of a profile")
      return image
    }
    let alpha = image.hasAlpha ? try greatestAlpha(open) : 0
    let spread = try image.spread(from: 0, to: 1, colours: colours, alpha: alpha <= 1.0001 ? 65535 : 257)
    return try spread.black(whereNaNIn: image)
  }

  private static func greatestAlpha(_ open: () throws(ImagingError) -> Image) throws(ImagingError) -> Double {
    try Image.range(ofFirst: 1) { () throws(ImagingError) in
      let image = try open()
      return try image.bands(from: image.bands - 1, count: 1)
    }.greatest
  }

  private static func byProfile(
    _ source: Image, _ intent: RenderingIntent, _ steps: inout [String]
  ) throws(ImagingError) -> Image {
    guard let bytes = source.embeddedProfile else { return source }
    guard let profile = ICCProfile(bytes) else {
      steps.append("embedded profile ignored: it is no ICC profile")
      return source
    }
    let isGray = source.bands < 3
    let isOfRGB = profile.colourSpace == "RGB "
    let isSRGB = isOfRGB && EmbeddedProfile.isSRGB(bytes)
    if isSRGB, source.isBytes, isGray || source.interpretation == "srgb" { return source }
    let name = profile.description.map { "\"\($0)\"" } ?? "without a name"
    do throws(ImagingError) {
      // Gray pixels with an RGB profile have equal red, green and blue.
      let coloured =
        isGray && isOfRGB
        ? try source.converted(to: source.interpretation == "grey16" ? "rgb16" : "srgb") : source
      let image = try coloured.convertedFromEmbeddedProfile(intent: intent.name)
      let depth = source.isBytes ? "" : " from \(source.interpretation)"
      let way = source.followedMarks ?? "its embedded profile \(name)"
      steps.append("converted\(depth) to sRGB by \(way), \(intent.name)")
      // White paper may be tinted, which gray cannot represent.
      return isGray && intent != .absolute ? try image.converted(to: "b-w") : image
    } catch {
      // A profile that does not fit its image is common; the pixels' own colour space then applies.
      steps.append("embedded profile \(name) ignored: \(error.message)")
      return source
    }
  }

  /// Reports linear light above 1, which is brighter than white and does not fit into a tile.
  private static func reportClipping(
    _ image: Image, _ steps: inout [String], _ open: () throws(ImagingError) -> Image
  ) throws(ImagingError) {
    let colours = image.bands - (image.hasAlpha ? 1 : 0)
    // Radiance files have four bytes per pixel until they are unpacked.
    let unpacked = { () throws(ImagingError) in
      let image = try open()
      return image.isBytes ? try image.unpackedRadiance() : image
    }
    let greatest = try Image.range(ofFirst: image.isBytes ? 3 : colours, unpacked).greatest
    if greatest > 1 { steps.append("light above 1 is white: its values go up to \(greatest)") }
  }
}

extension VipsImageSource {
  /// Converts values without a range in their colour space, mostly floats. The ranges 0…1 and 0…255 are used directly;
  /// any other range is stretched to 0…255.
  private static func inBytes(
    _ image: Image, _ steps: inout [String], _ open: () throws(ImagingError) -> Image
  ) throws(ImagingError) -> Image {
    let colours = image.bands - (image.hasAlpha ? 1 : 0)
    let (least, greatest) = try Image.range(ofFirst: colours, open)
    // Colours that were divided by their alpha may be rounded to more than 1.
    if least >= 0, greatest <= (image.hasAlpha ? 1.0001 : 1) {
      steps.append("scaled from 0…1 to 0…255")
      return try image.scaledToBytes(factor: 255, offset: 0, alpha: 255)
    }
    let alpha = image.hasAlpha ? try greatestAlpha(open) : 0
    let alphaFactor: Double = alpha <= 1.0001 ? 255 : 1
    if least >= 0, greatest <= 255 {
      steps.append("rounded to whole numbers")
      return try image.scaledToBytes(factor: 1, offset: 0, alpha: alphaFactor)
    }
    guard greatest > least, (greatest - least).isFinite else {
      steps.append("clipped to 0…255: its values go from \(least) to \(greatest)")
      return try image.castToBytes()
    }
    steps.append("scaled from \(least)…\(greatest) to 0…255")
    let factor = 255 / (greatest - least)
    return try image.scaledToBytes(factor: factor, offset: -least * factor, alpha: alphaFactor)
  }
}

extension BuildOptions {
  var keepsAlpha: Bool { coding.keepsAlpha }
}
