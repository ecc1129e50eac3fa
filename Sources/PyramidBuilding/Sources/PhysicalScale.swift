import TileGeometry
import ZigguratImaging

/// The physical size of a pixel.
enum PhysicalScale {
  /// A coarser resolution is that of a print, not of the object.
  private static let coarsest = 10.0

  /// Returns the microns per pixel by the slide's scanner or the TIFF's resolution; nil if they are unknown.
  ///
  /// - Parameter image: the opened picture.
  static func microns(_ picture: SourcePicture, _ image: Image) -> Point? {
    let stored = micronsAsStored(picture, image)
    // Orientations 5 to 8 exchange rows and columns.
    return image.orientation < 5 ? stored : stored.map { Point(x: $0.y, y: $0.x) }
  }

  private static func micronsAsStored(_ picture: SourcePicture, _ image: Image) -> Point? {
    guard picture.associated == nil, picture.raw == nil else { return nil }
    if let x = image.string("openslide.mpp-x").flatMap({ Double($0) }),
      let y = image.string("openslide.mpp-y").flatMap({ Double($0) }), isUsable(x), isUsable(y)
    {
      return Point(x: x, y: y)
    }
    guard Image.loader(ofPath: picture.path) == "tiffload" else { return nil }
    let number = picture.page ?? 0
    guard let tiff = TIFFDirectories.remembered(path: picture.path)?.directories,
      let first = tiff.all.first, let directory = tiff.all.dropFirst(number).first
    else { return nil }
    // The metadata of a microscope precedes the tag, which microscope programs leave at an arbitrary value. It is in
    // the file's first page, and describes several images.
    if let stated = OMEScale.microns(first.description, ofDirectory: number) {
      let (x, y) = (rounded(stated.x), rounded(stated.y))
      if isUsable(x), isUsable(y) { return Point(x: x, y: y) }
    }
    if let unit = tiff.all.first.flatMap({ ImageJScale.unit($0.description) }) {
      guard let microns = unit.microns, let pixels = directory.resolution ?? tiff.all.first?.resolution else {
        return nil
      }
      let (x, y) = (rounded(microns / pixels.x), rounded(microns / pixels.y))
      return isUsable(x) && isUsable(y) ? Point(x: x, y: y) : nil
    }
    // Without a unit, the numbers give only the pixel's aspect ratio.
    if directory.resolutionUnit == 1 { return nil }
    let resolution = image.pixelsPerMillimetre
    // The file's tag is a 32-bit float; further digits are noise.
    let (x, y) = (rounded(1000 / resolution.x), rounded(1000 / resolution.y))
    return isUsable(x) && isUsable(y) && max(x, y) <= coarsest ? Point(x: x, y: y) : nil
  }

  private static func isUsable(_ microns: Double) -> Bool { microns.isFinite && microns > 0 }

  /// Rounds to six decimals; the result is not finite if the number is too large.
  private static func rounded(_ microns: Double) -> Double { (microns * 1e6).rounded() / 1e6 }
}
