import TileGeometry
import ZigguratImaging

/// The size of a pixel in the world.
enum PhysicalScale {
  /// Coarser than this, a resolution is the paper's that somebody once meant to print on.
  private static let coarsest = 10.0

  /// Microns per pixel as the slide's scanner or the TIFF's resolution tells them, or nil.
  ///
  /// - Parameter image: the picture, opened.
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
    // A microscope's own words stand above the tag, which its programs leave at what it happens to be. They stand in the
    // file's first page, and tell of several images.
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
    // A number without a unit is the pixel's shape alone.
    if directory.resolutionUnit == 1 { return nil }
    let resolution = image.pixelsPerMillimetre
    // The file's tag is a 32-bit float: digits beyond are not its.
    let (x, y) = (rounded(1000 / resolution.x), rounded(1000 / resolution.y))
    return isUsable(x) && isUsable(y) && max(x, y) <= coarsest ? Point(x: x, y: y) : nil
  }

  private static func isUsable(_ microns: Double) -> Bool { microns.isFinite && microns > 0 }

  /// Six decimals at most; not finite if the number is too large to be rounded so.
  private static func rounded(_ microns: Double) -> Double { (microns * 1e6).rounded() / 1e6 }
}
