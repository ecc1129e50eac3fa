import Imaging
import TileStorage

/// By which way an image's pixels come to its tiles, and why; part of every report.
struct SourceRoute {
  let source: any StripSource
  /// `lossless`, `planar`, `exact`, with the reason.
  let reason: String
  /// What was done to the pixels, in order.
  var steps: [String] { source.steps + (keptProfile.map { [Self.words($0)] } ?? []) }
  /// Which every tile carries; nil where the tiles are sRGB.
  let keptProfile: [UInt8]?
  /// What the build asked for, with the tile format chosen for this image.
  let options: BuildOptions

  /// Opens the source by the shortest way that `options.fidelity` and the file itself allow.
  /// - Parameter page: of a multi-page source, counted from 0; nil where it has but one.
  init(path: String, page: Int? = nil, options: BuildOptions) throws(BuildError) {
    let image: Image
    do {
      image = try Image(path: path, access: .sequential, page: page)
    } catch { throw .unopened(path, error) }
    var options = options
    if options.choosesFormat { options.format = image.hasAlpha ? .webp : .jpeg }
    self.options = options
    keptProfile = image.embeddedProfile.flatMap { profile in
      options.keepsProfile && EmbeddedProfile.canBeKept(image) && !EmbeddedProfile.isSRGB(profile)
        ? profile : nil
    }
    if let page {
      source = try VipsSource(image, path: path, page: page, options: options)
      reason = "exact: read by libvips, page \(page + 1)"
      return
    }
    // Not the header's "vips-loader": a .v file keeps that of the file it was made from.
    let loader = Image.loader(ofPath: path)
    if let (jpeg, reason) = try Self.jpeg(path, image, loader, options) {
      (source, self.reason) = (jpeg, reason)
      return
    }
    if let png = try Self.png(path, image, loader, options) {
      source = png
      reason = "exact: PNG rows"
      return
    }
    if let (tiff, reason) = try Self.tiff(path, image, loader, options) {
      (source, self.reason) = (tiff, reason)
      return
    }
    source = try VipsSource(image, path: path, options: options)
    reason = "exact: read by libvips"
  }

  private static func words(_ profile: [UInt8]) -> String {
    let name = ICCProfile(profile)?.description.map { "\"\($0)\"" } ?? "without a name"
    return "embedded profile \(name) kept, in every tile"
  }

  /// Neither to be turned nor to be converted.
  private static func isAsItStands(_ image: Image, _ options: BuildOptions) -> Bool {
    guard image.orientation == 1 else { return false }
    guard let profile = image.embeddedProfile else { return true }
    return EmbeddedProfile.isSRGB(profile) || (options.keepsProfile && EmbeddedProfile.canBeKept(image))
  }

  /// A JPEG whose pixels need no turning and no change of colour.
  private static func jpeg(
    _ path: String, _ image: Image, _ loader: String?, _ options: BuildOptions
  ) throws(BuildError) -> (JPEGSource, String)? {
    guard loader == "jpegload", isAsItStands(image, options) else { return nil }
    let file = try JPEGFile(path: path)
    guard file.hasRows else { return nil }
    let (way, reason) = way(file, options)
    return (try JPEGSource(file, way, tileSize: options.tileSize), reason)
  }

  /// A PNG whose pixels are 8-bit gray or RGB as they stand.
  private static func png(
    _ path: String, _ image: Image, _ loader: String?, _ options: BuildOptions
  ) throws(BuildError) -> PNGSource? {
    guard loader == "pngload", isAsItStands(image, options) else { return nil }
    let file = try PNGFile(path: path)
    let hasAlpha = file.bands == 2 || file.bands == 4
    guard file.isPlain, !hasAlpha || options.keepsAlpha else { return nil }
    return PNGSource(file)
  }

  /// A TIFF of 8-bit gray or RGB that needs no turning and no change of colour.
  private static func tiff(
    _ path: String, _ image: Image, _ loader: String?, _ options: BuildOptions
  ) throws(BuildError) -> (TIFFSource, String)? {
    guard loader == "tiffload", isAsItStands(image, options),
      let file = try TIFFFile(path: path, tileSize: options.tileSize), let ability = try TIFFAbility(file)
    else { return nil }
    let (way, reason) = way(file, ability, options)
    return (TIFFSource(file, way, tileSize: options.tileSize), reason)
  }

  private static func way(
    _ file: TIFFFile, _ ability: TIFFAbility, _ options: BuildOptions
  ) -> (TIFFSource.Path, String) {
    let pieces = file.isTiled ? "TIFF tiles" : "TIFF strips"
    if options.fidelity == .exact { return (.rows, "exact: as asked, \(pieces) decoded side by side") }
    if options.shrinksLinearly { return (.rows, "exact: \(pieces) decoded side by side, for linear light") }
    guard file.isJPEG, options.format == .jpeg, options.tileSize % 16 == 0, ability.hasPlanes,
      options.subsampling != .none
    else {
      return (.rows, "exact: \(pieces) decoded side by side")
    }
    let planar = "planar: the \(pieces) keep their JPEG's samples"
    if options.fidelity == .fast { return (.planes, planar) }
    guard ability.hasSequentialTiles, file.unitWidth == options.tileSize, file.unitHeight == options.tileSize
    else { return (.planes, planar + "; they are not \(options.tileSize) × \(options.tileSize)") }
    if options.fidelity == .lossless { return (.copies, "lossless: the \(pieces) are copied") }
    guard JPEGFile.areNoFiner(ability.tables, thanQuality: options.quality) else {
      return (.planes, planar + "; copies would be larger than quality \(options.quality)")
    }
    return (.copies, "lossless: the \(pieces) are copied, they are no larger")
  }

  private static func way(_ file: JPEGFile, _ options: BuildOptions) -> (JPEGSource.Path, String) {
    if options.format != .jpeg { return (.rows, "exact: the tiles are not JPEG") }
    if options.fidelity == .exact { return (.rows, "exact: as asked") }
    if options.shrinksLinearly { return (.rows, "exact: linear light takes red, green and blue") }
    if options.tileSize % 16 != 0 { return (.rows, "exact: the tile size is no multiple of 16") }
    if !file.hasPlanes { return (.rows, "exact: the source's chroma is not 4:2:0") }
    if options.subsampling == .none { return (.rows, "exact: 4:4:4 was asked for") }
    let planar = "planar: the source's 4:2:0 samples are kept"
    if options.fidelity == .fast { return (.planes, planar) }
    guard file.hasStreamingCoefficients else {
      return (
        .planes, planar + "; a JPEG of several scans or arithmetic coding gives no coefficients as it streams"
      )
    }
    if options.fidelity == .lossless {
      return (.coefficients, "lossless: cut from the source's coefficients")
    }
    guard file.isNoFiner(thanQuality: options.quality) else {
      return (.planes, planar + "; its own coefficients would be larger than quality \(options.quality)")
    }
    return (.coefficients, "lossless: the source's own coefficients are no larger")
  }
}

extension BuildError {
  /// What libvips did not open; of a PNG whose size no file can hold it gives no reason.
  static func unopened(_ path: String, _ error: ImagingError) -> BuildError {
    if Image.loader(ofPath: path) == "pngload" {
      do throws(BuildError) { _ = try PNGFile(path: path) } catch { return error }
    }
    return BuildError(path, error)
  }
}
