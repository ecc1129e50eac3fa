package import TileGeometry

/// Region, size, rotation, quality and format of one picture (IIIF Image API 3.0, section 4; 2.1, section 4).
struct IIIFImageRequest: Hashable {
  let version: IIIFVersion
  let region: IIIFRegion
  let size: IIIFSize
  let isMirrored: Bool
  /// Degrees clockwise, 0..<360.
  let rotation: Double
  let quality: PictureQuality
  let format: PictureFormat

  /// A part of the path that is invalid.
  enum Part: Error {
    case region, size, rotation, quality, format

    /// Returns the rule that the part breaks, for the error message.
    func rule(_ version: IIIFVersion) -> String {
      switch self {
      case .region: return "the region is full, square, x,y,w,h or pct:x,y,w,h"
      case .size:
        let whole = version == .two ? "full, max" : "max"
        let growing = version == .two ? "" : ", each with ^ in front where it may grow"
        return "the size is \(whole), w, or ,h or pct:n or w,h or !w,h\(growing)"
      case .rotation: return "the rotation is 0 to 360 degrees, with ! in front where it is mirrored"
      case .quality:
        return "the quality is default, color, gray or bitonal, with the format behind a point"
      case .format:
        return "the format is one of " + PictureFormat.allCases.map(\.fileExtension).joined(separator: ", ")
      }
    }
  }

  /// - Parameters:
  ///   - region: the first of four parts of the path, all without percent escapes.
  ///   - file: quality and format.
  ///   - takesNative: whether `native` is a quality; version 1 called the default so.
  init(
    _ version: IIIFVersion, region: UnsafeRawBufferPointer, size: UnsafeRawBufferPointer,
    rotation: UnsafeRawBufferPointer, file: UnsafeRawBufferPointer, takesNative: Bool = false
  ) throws(Part) {
    self.version = version
    guard let region = IIIFRegion(region) else { throw .region }
    guard let size = IIIFSize(size, version) else { throw .size }
    var reader = PathReader(rotation)
    isMirrored = reader.skip(UInt8(ascii: "!"))
    guard let degrees = IIIFNumber.decimal(reader.rest), degrees <= 360 else { throw .rotation }
    // A millionth of a degree moves no pixel of the largest picture, and is written without an exponent.
    let rounded = (degrees * 1e6).rounded() / 1e6
    self.rotation = rounded == 360 ? 0 : rounded
    reader = PathReader(file)
    guard let name = reader.part(before: UInt8(ascii: ".")), let quality = Self.quality(name, takesNative)
    else {
      throw .quality
    }
    guard let format = PictureFormat(ending: reader.rest) else { throw .format }
    self.region = region
    self.size = size
    self.quality = quality
    self.format = format
  }

  private static func quality(_ name: UnsafeRawBufferPointer, _ takesNative: Bool) -> PictureQuality? {
    var reader = PathReader(name)
    let quality: PictureQuality
    if reader.skip("default") || reader.skip("color") {
      quality = .color
    } else if reader.skip("gray") {
      quality = .gray
    } else if reader.skip("bitonal") {
      quality = .bitonal
    } else if takesNative, reader.skip("native") {
      quality = .color
    } else {
      return nil
    }
    return reader.isAtEnd ? quality : nil
  }

  /// Returns the place in the image that the request asks for.
  func place(in pyramid: Pyramid, _ limits: PictureLimits) throws(TileRequestError) -> TileResolution {
    let region = try region.rectangle(in: pyramid.imageSize)
    let isPlain = rotation == 0 && !isMirrored && quality == .color
    // The requests of viewers for tiles. No limit applies to these.
    if isPlain, let (width, height) = size.stated(for: region, version),
      let tile = IIIFGrid.tile(pyramid, region, width: width, height: height)
    {
      return .stored(tile)
    }
    let picture = try picture(of: region, limits)
    if isPlain,
      let tile = IIIFGrid.tile(
        pyramid, region, width: picture.size.width, height: picture.size.height)
    {
      return .stored(tile)
    }
    return .picture(picture)
  }

  /// Returns the picture that a stored tile is; nil if the request does not ask for the tile.
  func picture(of tile: TileAddress, in pyramid: Pyramid) -> Picture? {
    guard let region = try? region.rectangle(in: pyramid.imageSize), tile.level < pyramid.levelCount else {
      return nil
    }
    // If the height follows from the width, it is the level's height.
    let shift = pyramid.shift(ofLevel: tile.level)
    let size = PixelSize(
      width: Pyramid.halved(region.width, times: shift), height: Pyramid.halved(region.height, times: shift))
    return size.map { Picture(region: region, size: $0, format: format) }
  }

  private func picture(of region: PixelRect, _ limits: PictureLimits) throws(TileRequestError) -> Picture {
    var picture = Picture(region: region, size: try size.pixels(of: region, limits), format: format)
    picture.isMirrored = isMirrored
    picture.rotation = rotation
    picture.quality = quality
    let area = format.limit(limits.area)
    guard picture.size.width * picture.size.height <= area else {
      throw TileRequestError(
        "a \(format.fileExtension) of \(picture.size.width)×\(picture.size.height) pixels takes too long; at most "
          + "\(area) pixels can be had, or \(limits.area) as jpg")
    }
    let box =
      rotation == 0
      ? (width: Double(picture.size.width), height: Double(picture.size.height))
      : Rotation(degrees: rotation).bounds(Double(picture.size.width), Double(picture.size.height))
    let most = PictureLimits.side(of: format)
    guard box.width <= Double(most), box.height <= Double(most) else {
      throw TileRequestError("\(format.fileExtension) holds \(most) pixels along a side")
    }
    return picture
  }
}

extension Picture {
  /// Writes the canonical request for this picture of an image (IIIF Image API 3.0, section 4.8; 2.1, section 4.7).
  /// - Parameter statesHeight: whether version 2 also states a height that follows from the width.
  func write(
    iiif text: inout URLWriter, of image: PixelSize, _ version: IIIFVersion, _ limits: PictureLimits,
    statesHeight: Bool = false
  ) {
    text.put(region: region, of: image)
    text.put("/")
    switch version {
    case .three:
      if size == IIIFSize.largest(region, limits) {
        text.put("max")
      } else {
        if size.width > region.width || size.height > region.height { text.put("^") }
        text.put(size: size.width, size.height)
      }
    case .two:
      // A height that keeps the proportions is omitted.
      if size.width == region.width, size.height == region.height {
        text.put("full")
      } else {
        let follows = IIIFSize.side(region.height, size.width, region.width) == size.height
        text.put(size: size.width, follows && !statesHeight ? nil : size.height)
      }
    }
    text.put("/")
    if isMirrored { text.put("!") }
    text.put(decimal: rotation)
    text.put("/")
    switch quality {
    case .color: text.put("default")
    case .gray: text.put("gray")
    case .bitonal: text.put("bitonal")
    }
    text.put(".")
    text.put(format.ending)
  }

  /// Returns the text of `write(iiif:of:_:_:)`.
  package func iiif(
    of image: PixelSize, _ version: IIIFVersion, _ limits: PictureLimits, statesHeight: Bool = false
  ) -> String {
    URLWriter.string { write(iiif: &$0, of: image, version, limits, statesHeight: statesHeight) }
  }
}
