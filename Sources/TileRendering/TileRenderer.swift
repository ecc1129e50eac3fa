import Synchronization
package import TileGeometry
package import TileStorage
import ZigguratImaging
package import ZigguratTileProtocols

/// A renderer of pictures from the tiles of archives; may be used by many threads at once.
package final class TileRenderer: Sendable {
  /// The options of all pictures.
  package struct Options: Hashable, Sendable {
    /// The quality of lossy pictures, 1…100.
    package var quality = 80
    /// The colour behind transparent pixels if the format has no alpha: red, green, blue, 0…255.
    package var background = [255, 255, 255]
    /// Bytes of decoded tiles that are cached for the next picture.
    package var cacheBytes = 64 << 20
    /// Whether files are stored, so that smaller files are worth the encoder's time.
    package var isKept = false

    package init() {}
  }

  /// The version of the renderer. It increases whenever the same picture gets other bytes, so that no cache confuses
  /// them.
  package static let revision = 5

  /// The version of libvips in use.
  package static var libvips: String { Vips.version }

  package let options: Options
  private let decoder: TileDecoder
  /// The codecs that no thread uses now.
  private let codecs = Mutex<[Codec]>([])

  // Sendable: one thread at a time takes it out of a mutex.
  private struct Codec: @unchecked Sendable {
    let codec: TurboJPEG
  }

  package init(options: Options = Options()) {
    // A server creates its renderer before its threads.
    Vips.start()
    self.options = options
    decoder = TileDecoder(cacheBytes: options.cacheBytes)
  }

  /// Bytes of decoded tiles in the cache now.
  package var cachedBytes: Int { decoder.cachedBytes }

  /// Drops all decoded tiles.
  package func forget() { decoder.forget() }

  /// Returns the file that the task describes.
  ///
  /// - Parameter cancellation: a request that makes the render fail soon.
  package func render(
    _ task: RenderTask, of archive: TileArchive, until cancellation: Cancellation = Cancellation()
  ) throws(RenderError) -> [UInt8] {
    switch task {
    case .picture(let picture): try render(picture, of: archive, until: cancellation)
    case .viewport(let viewport, let ratio, let format):
      try render(viewport, devicePixelRatio: ratio, format: format, of: archive, until: cancellation)
    case .crop(let rectangle, let level, let size, let format):
      try render(
        rectangle, level: level, paddedTo: size, as: format, of: archive, until: cancellation)
    case .joined(let rectangle, let rotation):
      try JoinedTiles(archive, cancellation).jpeg(of: rectangle, rotated: rotation)
    case .tile(let address, let format):
      try transcode(address, of: archive, to: format, until: cancellation)
    }
  }

  /// Whether the cache contains a decoded tile that the task is likely to need.
  func hasDecoded(_ number: Int, for task: RenderTask, of archive: TileArchive) -> Bool {
    let isPlanar = if case .tile(_, let format) = task { format == .jpg } else { archive.pyramid.isEven }
    return decoder.has(number, of: archive, planar: isPlanar)
  }

  /// Returns the picture as a file's bytes.
  package func render(
    _ picture: Picture, of archive: TileArchive, until cancellation: Cancellation = Cancellation()
  ) throws(RenderError) -> [UInt8] {
    try withCodec { (codec) throws(RenderError) in
      let plan = RenderPlan(archive.pyramid, region: picture.region, size: picture.size)
      let composer = TileComposer(
        decoder: decoder, archive: archive, level: plan.level, codec: codec, cancellation: cancellation)
      let pixels = try composer.pixels(of: plan.rectangle)
      if plan.isExact, !picture.isMirrored, picture.rotation == 0, picture.quality == .color {
        return try encode(
          pixels, as: picture.format, at: picture.encodingQuality.map(Int.init), codec, cancellation)
      }
      let color = try codec.interleaved(pixels)
      do throws(ImagingError) {
        return try color.withImage(until: cancellation) { (image) throws(ImagingError) in
          var image = image
          if !plan.isExact {
            image = try image.resized(width: picture.size.width, height: picture.size.height)
          }
          if picture.isMirrored { image = try image.mirrored() }
          image = try image.turned(degrees: picture.rotation)
          return try encode(
            image, quality: picture.quality, as: picture.format, at: picture.encodingQuality.map(Int.init))
        }
      } catch { throw RenderError(error) }
    }
  }

  /// Renders the content of a viewer's window with `viewport`'s position, rotation and mirroring. It is transparent
  /// outside the image if the format allows that.
  ///
  /// - Parameter devicePixelRatio: picture pixels per CSS pixel.
  package func render(
    _ viewport: Viewport, devicePixelRatio: Double, format: PictureFormat, of archive: TileArchive,
    until cancellation: Cancellation = Cancellation()
  ) throws(RenderError) -> [UInt8] {
    let place = ViewportPlan(archive.pyramid, viewport, devicePixelRatio: devicePixelRatio)
    let seen = try place.rectangle.map { (rectangle) throws(RenderError) in
      try pixels(of: rectangle, level: place.level, of: archive, until: cancellation)
    }
    do throws(ImagingError) {
      guard let seen else {
        let empty = PixelBuffer(place.size, .interleaved(.rgba))
        empty.memory.initialize(repeating: 0)
        return try empty.withImage(until: cancellation) { (image) throws(ImagingError) in
          try encode(image, quality: .color, as: format)
        }
      }
      return try seen.withImage(until: cancellation) { (image) throws(ImagingError) in
        let mapped = try (place.isFilled ? image : image.withAlpha()).mapped(
          matrix: place.matrix, offset: place.offset, width: place.size.width, height: place.size.height)
        return try encode(mapped, quality: .color, as: format)
      }
    } catch { throw RenderError(error) }
  }

  /// Returns the decoded pixels of a rectangle of one level.
  ///
  /// - Parameter rectangle: level space, inside the level.
  /// - Returns: gray, gray with alpha, RGB or RGBA, interleaved.
  package func pixels(
    of rectangle: PixelRect, level: Int, of archive: TileArchive,
    until cancellation: Cancellation = Cancellation()
  ) throws(RenderError) -> PixelBuffer {
    try withCodec { (codec) throws(RenderError) in
      let composer = TileComposer(
        decoder: decoder, archive: archive, level: level, codec: codec, cancellation: cancellation)
      return try codec.interleaved(composer.pixels(of: rectangle))
    }
  }

  /// Returns pixels as a file's bytes.
  package func encode(
    _ pixels: PixelBuffer, as format: PictureFormat, until cancellation: Cancellation = Cancellation()
  ) throws(RenderError) -> [UInt8] {
    try withCodec { (codec) throws(RenderError) in try encode(pixels, as: format, codec, cancellation) }
  }

  /// Returns a tile in another format than the stored one.
  package func transcode(
    _ address: TileAddress, of archive: TileArchive, to format: PictureFormat,
    until cancellation: Cancellation = Cancellation()
  ) throws(RenderError) -> [UInt8] {
    if format == .jpg, let jpeg = decoder.jpeg(of: archive, address) { return jpeg }
    return try withCodec { (codec) throws(RenderError) in
      try encode(
        decoder.pixels(of: archive, address, planar: format == .jpg, codec, cancellation), as: format, codec,
        cancellation)
    }
  }

  // MARK: Encoding

  private func encode(
    _ pixels: PixelBuffer, as format: PictureFormat, at quality: Int? = nil, _ codec: TurboJPEG,
    _ cancellation: Cancellation
  ) throws(RenderError) -> [UInt8] {
    try cancellation.check()
    if format == .jpg, !pixels.layout.hasAlpha {
      return try codec.encode(pixels, quality: quality ?? options.quality)
    }
    let color = try codec.interleaved(pixels)
    do throws(ImagingError) {
      return try color.withImage(until: cancellation) { (image) throws(ImagingError) in
        try encode(image, quality: .color, as: format, at: quality)
      }
    } catch { throw RenderError(error) }
  }

  private func encode(
    _ image: Image, quality: PictureQuality, as format: PictureFormat, at encodingQuality: Int? = nil
  ) throws(ImagingError) -> [UInt8] {
    var image = image
    if image.hasAlpha, !format.keepsAlpha || quality == .bitonal {
      image = try image.flattened(over: options.background)
    }
    if quality != .color, image.bands > 2 { image = try image.converted(to: "b-w") }
    if quality == .bitonal { image = try image.bilevel() }
    // A lossy encoder would blur the edges to gray.
    let isLossless = quality == .bitonal
    let number = encodingQuality ?? options.quality
    return switch format {
    case .jpg where quality == .bitonal: try BitonalJPEG.encode(image)
    case .jpg: try image.jpegBytes(quality: number)
    case .png: try image.pngBytes()
    case .webp: try image.webpBytes(quality: number, isQuick: !options.isKept, isLossless: isLossless)
    case .tif: try image.tiffBytes()
    case .gif: try image.gifBytes()
    case .avif: try image.avifBytes(quality: number, isQuick: !options.isKept, isLossless: isLossless)
    case .jxl: try image.jxlBytes(quality: isLossless ? 100 : number, isQuick: !options.isKept)
    }
  }

  private func withCodec<Result>(
    _ work: (TurboJPEG) throws(RenderError) -> Result
  ) throws(RenderError) -> Result {
    let codec = codecs.withLock { $0.popLast() } ?? Codec(codec: TurboJPEG())
    defer { codecs.withLock { $0.append(codec) } }
    return try work(codec.codec)
  }
}
