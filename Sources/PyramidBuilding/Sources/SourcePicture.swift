import TileStorage
import ZigguratImaging

/// The picture of a source's file that is meant, and the way in which it is read: its resolution if it has no pixels
/// of its own, and its bands.
struct SourcePicture {
  let path: String
  /// The page of a file of several, counted from 0; nil if it has only one.
  private(set) var page: Int?
  /// The associated image of a slide; nil for the slide itself and for any other file.
  let associated: AssociatedImage?
  /// The contents of a TIFF file; nil for any other, as for a slide that OpenSlide reads.
  private(set) var contents: SourceContents?
  /// The picture taken of a camera's RAW file; nil for any other file.
  private(set) var raw: RawPicture?
  /// A DICOM file that is no slide; nil for any other file.
  private(set) var dicom: DICOMImage?
  /// The directory of the transparency mask of a TIFF's picture; nil if it has none, or one that hides nothing. Its
  /// number is that of `TIFFDirectories.directory`.
  private(set) var mask: Int?
  /// The same, also if the mask hides nothing.
  private(set) var foundMask: Int?
  /// The planes shown of an OME-TIFF or an ImageJ hyperstack; nil for any other file.
  private(set) var stack: ImageStack?
  /// Decisions, a clause each.
  let steps: [String]
  /// Damage of the file found so far.
  let log: DamageLog
  /// Whether the file could not be decoded normally.
  private(set) var isDamaged: Bool
  private var drawing: Drawing?
  private let bands: [Int]?

  /// - Parameters:
  ///   - page: the position of a page in a file of several, counted from 0; nil if it has only one.
  ///   - mask: the position of that page's transparency mask; nil if `contents` has it.
  ///   - contents: the pictures of the file; see `SourceContents.of`.
  ///   - isDamaged: whether to read the decodable part of a damaged file.
  init(
    path: String, page: Int?, mask: Int? = nil, associated: AssociatedImage? = nil,
    contents: SourceContents?, options: BuildOptions, isDamaged: Bool = false
  ) throws(BuildError) {
    self.path = path
    self.isDamaged = isDamaged
    log = DamageLog()
    self.associated = associated
    bands = associated == nil ? options.bands : nil
    if associated == nil, let signs = contents?.raw, signs.areOfRAW(path: path) {
      let raw = try RawPicture(SourceFile(path: path), signs, options.raw)
      self.raw = raw
      try Self.refusePlanes(path, options)
      steps = raw.steps + Self.description(bands)
      return
    }
    var dicom = associated == nil ? try Self.dicom(path, frame: page ?? 0) : nil
    if let window = options.window {
      dicom = try dicom.map { (file) throws(BuildError) in try window.applied(to: file, path) }
    }
    self.dicom = dicom
    if let dicom {
      // Once for the file, not for each of its pages.
      if page ?? 0 == 0 { log.add(dicom.damage) }
      self.page = page
      try Self.refusePlanes(path, options)
      steps = [dicom.step] + Self.description(bands)
      return
    }
    let contents = Image.loader(ofPath: path) == "tiffload" ? contents : nil
    self.contents = contents
    do throws(ImagingError) {
      drawing = try Drawing(path, page, options)
      if associated == nil { stack = try Self.stack(path, page, contents, options) }
    } catch { throw .unopened(path, error) }
    if stack == nil, associated == nil { try Self.refusePlanes(path, options) }
    // The first picture may be a label.
    let own = contents.map { $0.pages.first ?? $0.leftOut.first?.directory ?? 0 }
    log.add(drawing?.damage)
    log.add(Self.damageOfPages(path, page, contents, options))
    self.page = stack?.channels[0].page ?? page ?? (own == 0 ? nil : own)
    let found = mask ?? (page ?? own).flatMap { contents?.masks[$0] }
    let usable = stack == nil && bands == nil ? found : nil
    foundMask = usable
    let hides = usable.map { Image.hidesPixels(maskOf: path, directory: $0) }
    self.mask = hides == true ? usable : nil
    steps =
      (drawing.map { ["drawn \($0.description)"] } ?? [])
      + (stack?.steps ?? [])
      + (hides == .some(nil) ? ["its mask is left out: it cannot be read"] : [])
      + Self.description(bands)
  }

  /// Returns a DICOM file that no loader of libvips reads; nil for any other file.
  /// - Parameter frame: the frame that is to be shown, counted from 0.
  static func dicom(_ path: String, frame: Int = 0) throws(BuildError) -> DICOMImage? {
    guard Image.loader(ofPath: path) == nil else { return nil }
    do { return try DICOMImage(path: path, frame: frame) } catch { throw BuildError(path, error) }
  }

  /// Returns the damage of a TIFF's list of pages; `nil` if it is sound, or the picture is not the first of the pages.
  private static func damageOfPages(
    _ path: String, _ page: Int?, _ contents: SourceContents?, _ options: BuildOptions
  ) -> SourceDamage? {
    guard let page else { return contents?.damage }
    guard Image.loader(ofPath: path) == "tiffload",
      let (file, directories) = TIFFDirectories.remembered(path: path), directories.damage != nil
    else { return nil }
    let whole = SourceContents(directories, name: file.name, scene: options.scene)
    return whole.pages.first == page ? whole.damage : nil
  }

  private static func description(_ bands: [Int]?) -> [String] {
    bands.map { ["bands \($0.map(String.init).joined(separator: ", ")) taken"] } ?? []
  }

  /// The directories of a TIFF file that the picture's pixels come from; none of any other file.
  var tiffPages: [Int] {
    guard contents != nil || page != nil || stack != nil, associated == nil, dicom == nil,
      Image.loader(ofPath: path) == "tiffload"
    else { return [] }
    return stack?.channels.map(\.page) ?? [page ?? 0]
  }

  /// The same picture of a file that turned out to be damaged.
  init(damaged picture: SourcePicture) {
    self = picture
    isDamaged = true
  }

  private static func stack(
    _ path: String, _ page: Int?, _ contents: SourceContents?, _ options: BuildOptions
  ) throws(ImagingError) -> ImageStack? {
    var contents = contents
    if page != nil {
      guard options.scene == .all, let (file, directories) = TIFFDirectories.remembered(path: path) else {
        return nil
      }
      contents = SourceContents(directories, name: file.name, scene: .all)
    }
    guard let contents, let planes = contents.planes(options, ofSceneAt: page) else { return nil }
    return try ImageStack(planes, pages: contents.directoryCount, path: path, options)
  }

  /// Refuses options that choose a plane of a picture which has but one.
  private static func refusePlanes(_ path: String, _ options: BuildOptions) throws(BuildError) {
    let asked = [
      options.channels.map { _ in "--channels" }, options.depth.flatMap { $0 > 1 ? "--depth" : nil },
      options.time.flatMap { $0 > 1 ? "--time" : nil },
    ].compactMap { $0 }
    guard let option = asked.first else { return }
    throw BuildError(
      path,
      "\(option) cannot be used with it: it is not a stack of channels, depths or time points, as OME-TIFF "
        + "and ImageJ's hyperstacks are" + (option == "--channels" ? " (--bands chooses bands)" : ""))
  }

  /// Opens the picture. The image's profile then includes the colour marks.
  func open(_ access: Image.Access) throws(ImagingError) -> Image {
    if let associated {
      guard let contents else { return try Image(associated, ofSlideAt: path) }
      guard let directory = contents.associated[associated] else {
        throw ImagingError(opening: path, "holds no \(associated.rawValue)")
      }
      return try Image.source(path: path, access: access, page: directory, scale: nil)
    }
    if let picture = drawing?.picture { return try Image(picture, ofPDFAt: path, page: page ?? 0) }
    let image =
      if let raw { try raw.open() } else if let dicom {
        try Image(dicom, path: path)
      } else {
        try Image.source(
          path: path, access: access, page: page, mask: mask, scale: drawing?.scale, keepsBands: bands != nil,
          damagedAsIn: isDamaged ? log : nil)
      }
    log.add(image.knownDamage)
    guard let bands else {
      let most = image.interpretation == "cmyk" ? 5 : 4
      guard image.bands <= most else {
        throw ImagingError(
          opening: path,
          "has \(image.bands) bands; choose which are red, green and blue, as --bands 3,2,1, or one")
      }
      return image
    }
    guard let greatest = bands.max(), greatest <= image.bands else {
      throw ImagingError(
        opening: path,
        "has \(image.bands) \(image.bands == 1 ? "band" : "bands"), and no band \(bands.max() ?? 0)")
    }
    return try image.picked(bands: bands.map { $0 - 1 })
  }
}

extension DICOMImage {
  /// The role by the file's type (PS3.3, C.8.12.4.1.1); nil for any picture that is built without a request. The
  /// localizer of a CT is an ordinary picture.
  var privateRole: PictureRole? {
    let values = type.split(separator: "\\").filter { isMicroscopes || $0 != "LOCALIZER" }
    return values.lazy.compactMap { PictureRole(named: $0) }.first(where: \.isPrivate)
  }

  /// The frames that are missing; nil if none is.
  var damage: SourceDamage? {
    guard frames < claimedFrames else { return nil }
    return SourceDamage(
      .truncated, "the DICOM file holds \(frames) of the \(claimedFrames) frames that it claims to have")
  }
}

/// The resolution at which a picture without pixels of its own is drawn.
private struct Drawing {
  /// Pixels for each unit of a PDF page, or for each pixel of CSS of an SVG.
  let scale: Double
  /// The picture that a PDF page consists of, drawn with its own pixels.
  private(set) var picture: PDFPicture?
  /// The loss of a picture that is not drawn.
  private(set) var damage: SourceDamage?
  let description: String

  /// `nil` if the file's own pixels are read, or an SVG as large as it says.
  init?(_ path: String, _ page: Int?, _ options: BuildOptions) throws(ImagingError) {
    switch Image.loader(ofPath: path) {
    case "pdfload":
      PDFDocument.forgetDamage()
      let content = PDFPage(path: path, page: page ?? 0)
      if let size = content?.undrawn {
        let picture = "picture of \(size.columns)×\(size.rows) pixels"
        let limit = "poppler draws \(PDFPage.maxDimension) pixels a side at most"
        if case .exact = content?.resolution {
          throw ImagingError(
            opening: path,
            "its \(picture) cannot be drawn (\(limit)): extract it, as with 'pdfimages -all FILE NAME', and "
              + "build the result")
        }
        damage = SourceDamage(.error, "a \(picture) of the page is missing: \(limit)")
      }
      let resolution: Double
      switch content?.resolution {
      case _ where options.resolution != nil:
        resolution = Double(options.resolution ?? 0)
        description = "at \(Int(resolution)) dpi"
      case .exact(let picture):
        self.picture = picture
        resolution = picture.resolution
        description = "at \(Self.rounded(resolution)) dpi, its picture's own"
      case .finest(let finest):
        resolution = finest
        description = "at \(Self.rounded(resolution)) dpi, its finest picture's"
      case .usual, nil:
        resolution = PDFPage.usualResolution
        description = "at \(Int(resolution)) dpi"
      }
      scale = resolution / 72 * (content?.userUnit ?? 1)
    case "svgload":
      guard let dpi = options.resolution else { return nil }
      scale = Double(dpi) / 96
      description = "at \(dpi) dpi"
    default: return nil
    }
  }

  private static func rounded(_ resolution: Double) -> Double { (resolution * 10).rounded() / 10 }
}
