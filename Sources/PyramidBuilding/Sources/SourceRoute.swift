import TileGeometry
import TileStorage
import ZigguratImaging

/// By which way an image's pixels come to its tiles, and why; part of every report.
struct SourceRoute {
  let picture: SourcePicture
  let source: any StripSource
  /// `lossless`, `planar`, `exact`, with the reason.
  let reason: String
  /// The changes to the pixels, in order.
  let steps: [String]
  /// The profile that every tile contains; nil if the tiles are sRGB.
  let keptProfile: [UInt8]?
  /// The options of the build, with the tile format chosen for this image.
  let options: BuildOptions
  /// Microns per pixel, across and down; nil if the file does not say.
  let micronsPerPixel: Point?
  /// Pictures that the file holds beside this one, as slides do.
  let associated: [AssociatedImage]

  /// Opens the source by the shortest route that `options.fidelity` and the file allow.
  ///
  /// - Parameters:
  ///   - page: the position of a page in a file of several, counted from 0; nil if it has only one.
  ///   - mask: the position of that page's transparency mask; nil if it has none.
  ///   - associated: the associated image of a slide; nil for the slide itself.
  init(
    file: SourceFile, page: Int? = nil, mask: Int? = nil, associated: AssociatedImage? = nil,
    options: BuildOptions
  ) throws(BuildError) {
    do throws(BuildError) {
      try self.init(
        file: file, page: page, mask: mask, associated: associated, options: options, isDamaged: false)
    } catch {
      guard !error.isTemporary, associated == nil,
        let damaged = try? Self(
          file: file, page: page, mask: mask, associated: nil, options: options, isDamaged: true)
      else { throw error }
      self = damaged
    }
  }

  private init(
    file: SourceFile, page: Int?, mask: Int?, associated: AssociatedImage?, options: BuildOptions,
    isDamaged: Bool
  ) throws(BuildError) {
    let path = file.path
    let picture = try SourcePicture(
      path: path, page: page, mask: mask, associated: associated,
      // A page was already chosen by the file's contents.
      contents: page == nil ? try SourceContents.of(file, options) : nil, options: options,
      isDamaged: isDamaged)
    let image: Image
    do {
      image = try picture.open(.sequential)
    } catch { throw .unopened(path, error) }
    self.picture = picture
    micronsPerPixel = PhysicalScale.microns(picture, image)
    self.associated =
      associated != nil
      ? [] : picture.contents.map(\.besidesPicture) ?? image.associated
    reduced = Self.reduced(picture, image, options)
    unshown =
      associated != nil
      ? [] : (page == nil ? AuxiliaryData.names(in: file, image) : []) + Self.unshownInTIFF(picture)
    var options = options
    let slide = SlideTIFF(picture, image, options)
    // OpenSlide adds alpha to every slide, for areas without data.
    let hasAlpha = image.hasAlpha && slide?.file == nil && associated == nil
    if options.choosesFormat { options.format = hasAlpha ? .webp : .jpeg }
    options.recompressesJPEG =
      options.format == .jxl && options.fidelity == .lossless && Image.loader(ofPath: path) == "jpegload"
    var shrinking: String?
    if options.downsampling == .auto {
      shrinking = SegmentationMap.sign(picture, image).map { "levels by mode: \($0)" }
      options.downsampling = shrinking == nil ? .mean : .mode
    } else if options.picksPixels {
      shrinking = "levels by \(options.downsampling.name)"
    }
    self.options = options
    keptProfile = image.embeddedProfile.flatMap { profile in
      options.keepsProfile && EmbeddedProfile.canBeKept(image, options) && !EmbeddedProfile.isSRGB(profile)
        ? profile : nil
    }
    var reason: String
    switch try Self.shortest(picture, image, slide, options) {
    case .native(let source, let description): (self.source, reason) = (source, description)
    case .libvips(let obstacle):
      source = try VipsImageSource(image, of: picture, options: options)
      reason = "exact: read by \(Self.reader(picture, image)), for \(obstacle)"
    }
    if options.recompressesJPEG { reason += "; the JPEG tiles are recompressed" }
    self.reason = reason
    steps =
      picture.steps + [image.colourNote, image.alphaNote].compactMap(\.self) + source.steps
      + (image.profileDefect.map { [$0] } ?? [])
      + (image.unfollowedMarks.map { ["taken as sRGB: no profile says what \($0) says"] } ?? [])
      + (keptProfile.map { [Self.description($0, image)] } ?? []) + (shrinking.map { [$0] } ?? [])
      + (Self.ignoresWindow(picture, image, options) ? ["--window does not apply to samples of 8 bits"] : [])
  }

  /// Whether a window was asked for that the picture does not have: its samples are bytes and no channels of a stack.
  private static func ignoresWindow(_ picture: SourcePicture, _ image: Image, _ options: BuildOptions) -> Bool
  {
    guard let window = options.window, window != .full else { return false }
    return image.sampleType == .byte && picture.stack?.isPage != false && picture.dicom == nil
  }

  /// The decoder of an image that libvips brings to its tiles.
  private static func reader(_ picture: SourcePicture, _ image: Image) -> String {
    if let raw = picture.raw { return raw.reader }
    if picture.dicom != nil { return "DCMTK" }
    // Samples of a TIFF that libvips reads wrongly are decoded by libtiff alone.
    return image.rowsHeld == nil ? "libvips" : "libtiff"
  }

  /// Returns the names of data in a TIFF file that no tile shows; empty for any other file.
  private static func unshownInTIFF(_ picture: SourcePicture) -> [String] {
    guard picture.raw == nil, Image.loader(ofPath: picture.path) == "tiffload" else { return [] }
    func hasPartAsMask(_ directories: Int) -> Bool { picture.foundMask.map { $0 >= directories } ?? false }
    if let contents = picture.contents {
      return contents.unshown(hasPartAsMask: hasPartAsMask(contents.directoryCount))
    }
    return picture.page.flatMap { page in
      let all = TIFFDirectories.remembered(path: picture.path)?.directories.all ?? []
      return all.dropFirst(page).first?.unshown(hasPartAsMask: hasPartAsMask(all.count))
    } ?? []
  }

  /// Names of data in the file that no tile shows.
  let unshown: [String]

  /// Names of the picture's own samples that the tiles lack; for records.
  let reduced: [String]

  private static func reduced(_ picture: SourcePicture, _ image: Image, _ options: BuildOptions) -> [String] {
    if picture.associated != nil || picture.raw != nil { return [] }
    var names: [String] = []
    if image.sampleType != .byte { names.append("samples of more than 8 bits") }
    if image.hasAlpha, !options.choosesFormat, !options.keepsAlpha { names.append("alpha") }
    if !image.sampleNotes.isEmpty || options.bands != nil { names.append("bands") }
    if image.interpretation == "cmyk" { names.append("CMYK") }
    if let stack = picture.stack, !stack.isPage { names.append("channels by themselves") }
    return names
  }

  /// Whether the file may hold a slide's label, macro or another picture beside the one that is shown.
  var mayHoldLabel: Bool {
    if picture.associated != nil || !associated.isEmpty || picture.dicom?.privateRole != nil { return true }
    if Image.loader(ofPath: picture.path) == "openslideload" { return true }
    guard let contents = picture.contents else { return false }
    return contents.leftOut.contains(where: \.role.isPrivate) || contents.scenes.count > 1
  }

  /// Pictures of the file that are not built, by their names.
  var leftOut: [String] {
    if let contents = picture.contents { return contents.leftOut(options, isStack: picture.stack != nil) }
    return options.keepsAssociated ? [] : associated.map(\.rawValue)
  }

  /// Returns the metadata that the file has of the picture. That of a stack is in the file's first directory.
  ///
  /// - Parameter isPage: whether the picture is one of several pages.
  func metadata(isPage: Bool) -> ImageMetadata {
    ImageMetadata(
      ofSourceAt: picture.path, isPage: isPage,
      directory: picture.stack == nil && picture.raw == nil && picture.dicom == nil ? picture.page ?? 0 : 0)
  }

  /// The reader of the pixels.
  enum Way {
    /// And by which path, with the reason.
    case native(any StripSource, String)
    /// Because of what.
    case libvips(String)
  }

  private static func description(_ profile: [UInt8], _ image: Image) -> String {
    let name = ICCProfile(profile)?.description.map { "\"\($0)\"" } ?? "without a name"
    let whose = image.followedMarks.map { "profile made of \($0)" } ?? "embedded profile \(name)"
    return "\(whose) kept, in every tile"
  }

  private static func shortest(
    _ picture: SourcePicture, _ image: Image, _ slide: SlideTIFF?, _ options: BuildOptions
  ) throws(BuildError) -> Way {
    let path = picture.path
    if let associated = picture.associated { return .libvips("being a slide's \(associated.rawValue)") }
    if let raw = picture.raw { return .libvips(raw.obstacle) }
    if picture.dicom != nil { return .libvips("its format (dicom)") }
    if picture.isDamaged { return .libvips("its damage") }
    if let stack = picture.stack { return .libvips("the planes of \(stack.kind)") }
    if let page = picture.page { return .libvips("page \(page + 1) of a file of several") }
    // Not the header's "vips-loader": a .v file keeps that of the file it was made from.
    let loader = Image.loader(ofPath: path)
    if let file = slide?.file { return try tiff(file, options, isSlide: true) }
    guard let loader, ["jpegload", "pngload", "tiffload"].contains(loader) else {
      if let obstacle = slide?.obstacle {
        return .libvips("its format (openslide); its own tiles are not taken, for \(obstacle)")
      }
      let format = loader.map { $0.hasSuffix("load") ? String($0.dropLast(4)) : $0 } ?? "unknown"
      return .libvips("its format (\(format))")
    }
    if options.bands != nil { return .libvips("the bands that were chosen") }
    if picture.mask != nil { return .libvips("its mask") }
    if let change = change(image, options) { return .libvips(change) }
    switch loader {
    case "jpegload": return try jpeg(path, options)
    case "pngload": return try png(path, options)
    default:
      guard TIFFTags.read(path: path, page: 0) != nil else { return .libvips("its tiles of no size") }
      let file = try TIFFFile(path: path, tileSize: options.tileSize)
      return try tiff(file, options, isSlide: false)
    }
  }

  /// Returns the change to every pixel that only libvips makes; nil if the pixels stay as they are.
  private static func change(_ image: Image, _ options: BuildOptions) -> String? {
    if image.orientation != 1 { return "its EXIF orientation \(image.orientation)" }
    guard let profile = image.embeddedProfile, !EmbeddedProfile.isSRGB(profile),
      !(options.keepsProfile && EmbeddedProfile.canBeKept(image, options))
    else { return nil }
    let name = ICCProfile(profile)?.description.map { "its profile \"\($0)\"" } ?? "its profile"
    return image.followedMarks ?? name
  }

  private static func jpeg(_ path: String, _ options: BuildOptions) throws(BuildError) -> Way {
    let file = try JPEGFile(path: path)
    guard file.hasRows else {
      return .libvips(file.info.components == 4 ? "its CMYK" : "its \(file.info.components) channels")
    }
    let (way, reason) = way(file, options)
    return .native(try JPEGSource(file, way, tileSize: options.tileSize), reason)
  }

  private static func png(_ path: String, _ options: BuildOptions) throws(BuildError) -> Way {
    let file = try PNGFile(path: path)
    if let obstacle = file.obstacle { return .libvips(obstacle) }
    if file.bands?.hasAlpha == true, !options.keepsAlpha {
      return .libvips("its alpha, which the tiles have not")
    }
    return .native(PNGSource(file), "exact: PNG rows")
  }

  private static func way(_ file: JPEGFile, _ options: BuildOptions) -> (JPEGSource.Path, String) {
    if options.coding != .jpeg { return (.rows, "exact: the tiles are not JPEG") }
    if options.fidelity == .exact { return (.rows, "exact: as asked") }
    if options.downsampling == .linear { return (.rows, "exact: linear light takes red, green and blue") }
    if options.picksPixels {
      return (.rows, "exact: levels by \(options.downsampling.name) take whole pixels")
    }
    if options.tileSize % 16 != 0 { return (.rows, "exact: the tile size is not a multiple of 16") }
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
  /// Returns the error of a file that libvips did not open. libvips gives no reason for a PNG whose size no file can
  /// hold.
  static func unopened(_ path: String, _ error: ImagingError) -> BuildError {
    if Image.loader(ofPath: path) == "pngload" {
      do throws(BuildError) { _ = try PNGFile(path: path) } catch { return error }
    }
    return BuildError(path, error)
  }
}
