import TileGeometry
import TileProtocols
import TileRendering

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

  /// - Parameter segments: four of the path, decoded.
  init(_ version: IIIFVersion, _ segments: [String]) throws(IIIFRefusal) {
    precondition(segments.count == 4, "region, size, rotation and file")
    self.version = version
    guard let region = IIIFRegion(segments[0]) else {
      throw IIIFRefusal("the region is full, square, x,y,w,h or pct:x,y,w,h")
    }
    guard let size = IIIFSize(segments[1], version) else {
      let whole = version == .two ? "full, max" : "max"
      let growing = version == .two ? "" : ", each with ^ in front where it may grow"
      throw IIIFRefusal("the size is \(whole), w, or ,h or pct:n or w,h or !w,h\(growing)")
    }
    isMirrored = segments[2].hasPrefix("!")
    guard let degrees = IIIFNumber.decimal(segments[2].dropFirst(isMirrored ? 1 : 0)), degrees <= 360 else {
      throw IIIFRefusal("the rotation is 0 to 360 degrees, with ! in front where it is mirrored")
    }
    // A millionth of a degree moves no pixel of the largest picture, and is written without an exponent.
    let rounded = (degrees * 1e6).rounded() / 1e6
    rotation = rounded == 360 ? 0 : rounded
    let file = segments[3].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard file.count == 2,
      let quality = file[0] == "default" ? .color : PictureQuality(rawValue: String(file[0]))
    else {
      throw IIIFRefusal("the quality is default, color, gray or bitonal, with the format behind a point")
    }
    guard let format = PictureFormat(fileExtension: String(file[1])) else {
      throw IIIFRefusal(
        "the format is one of " + PictureFormat.allCases.map(\.fileExtension).joined(separator: ", "))
    }
    (self.region, self.size, self.quality, self.format) = (region, size, quality, format)
  }

  /// What is to be made of an image of that size.
  func picture(of image: PixelSize, _ limits: PictureLimits) throws(IIIFRefusal) -> Picture {
    let region = try region.rectangle(in: image)
    var picture = Picture(region: region, size: try size.pixels(of: region, limits), format: format)
    (picture.isMirrored, picture.rotation, picture.quality) = (isMirrored, rotation, quality)
    let area = format.limit(limits.area)
    guard picture.size.width * picture.size.height <= area else {
      throw IIIFRefusal(
        "a \(format.fileExtension) of \(picture.size.width)×\(picture.size.height) pixels takes too long; at most "
          + "\(area) pixels can be had, or \(limits.area) as jpg")
    }
    let box = Turn(degrees: rotation).bounds(Double(picture.size.width), Double(picture.size.height))
    let most = PictureLimits.side(of: format)
    guard box.width <= Double(most), box.height <= Double(most) else {
      throw IIIFRefusal("\(format.fileExtension) holds \(most) pixels along a side")
    }
    return picture
  }

  /// The one way to write a request for that picture (3.0, section 4.7; 2.1, section 4.7).
  static func canonical(
    _ picture: Picture, of image: PixelSize, _ version: IIIFVersion, _ limits: PictureLimits
  ) -> String {
    let (region, size) = (picture.region, picture.size)
    let isWhole = region == PixelRect(x: 0, y: 0, width: image.width, height: image.height)
    let place = isWhole ? "full" : "\(region.x),\(region.y),\(region.width),\(region.height)"
    let extent: String
    switch version {
    case .three:
      let grows = size.width > region.width || size.height > region.height
      extent =
        size == IIIFSize.largest(region, limits) ? "max" : "\(grows ? "^" : "")\(size.width),\(size.height)"
    case .two:
      let follows = (Double(region.height) * Double(size.width) / Double(region.width)).rounded()
      if size.width == region.width, size.height == region.height {
        extent = "full"
      } else {
        extent = max(1, follows) == Double(size.height) ? "\(size.width)," : "\(size.width),\(size.height)"
      }
    }
    let angle = IIIFNumber.text(picture.rotation)
    let quality = picture.quality == .color ? "default" : picture.quality.rawValue
    return "\(place)/\(extent)/\(picture.isMirrored ? "!" : "")\(angle)/\(quality)"
      + ".\(picture.format.fileExtension)"
  }
}
