import ZigguratImaging

/// A slide that OpenSlide knows and that is a TIFF whose own tiles are its picture.
struct SlideTIFF {
  /// The file; nil if OpenSlide has to read it.
  let file: TIFFFile?
  /// Why, as a clause.
  let obstacle: String?

  /// Scanners whose picture of full resolution is the first of the TIFF as it stands, each tile in its place.
  private static let vendors: Set = ["aperio"]

  /// `nil` if the file is no such slide.
  init?(_ picture: SourcePicture, _ image: Image, _ options: BuildOptions) {
    guard picture.associated == nil, Image.loader(ofPath: picture.path) == "openslideload",
      options.bands == nil,
      let vendor = image.string("openslide.vendor"), Self.vendors.contains(vendor)
    else { return nil }
    do throws(BuildError) {
      var file = try TIFFFile(path: picture.path, tileSize: options.tileSize)
      obstacle = try Self.obstacle(&file, image)
      self.file = obstacle == nil ? file : nil
    } catch { (file, obstacle) = (nil, error.reason) }
  }

  private static func obstacle(_ file: inout TIFFFile, _ image: Image) throws(BuildError) -> String? {
    if let obstacle = file.obstacle { return obstacle }
    if !file.isTiled || file.width != image.width || file.height != image.height {
      return "its first picture"
    }
    let ability = try TIFFAbility(&file)
    if file.tags.isYCbCrUnderRGB || ability == nil { return "its JPEG data's other colours" }
    // OpenSlide fills areas that the scanner left out in its own way.
    if !file.isJPEG { return file.tags.missingCount > 0 ? "tiles that are missing" : nil }
    let survey = try TIFFTileSurvey(file)
    return survey.isDamaged ? survey.obstacle : nil
  }
}
