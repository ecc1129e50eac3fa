import TileStorage
import ZigguratImaging
import ZigguratMetadata

/// The pages of a source that are images of their own.
struct SourcePages: Sendable {
  /// Their directories in the file, counted from 0; one for a single image.
  let directories: [Int]
  /// The directories of pages' transparency masks, by the pages'.
  private(set) var masks: [Int: Int] = [:]
  /// Pictures that are no pages and are not built, by their names.
  var leftOut: [String] = []
  /// Pictures that `--associated` builds beside the pages of a file of several.
  var associated: [AssociatedImage] = []

  var count: Int { directories.count }

  private init(_ directories: [Int]) { self.directories = directories }

  /// Frames of an animation and the smaller copies in a pyramidal TIFF are not pages, nor are a slide's label and
  /// macro.
  init(file: SourceFile, options: BuildOptions) throws(BuildError) {
    let path = file.path
    let contents = try SourceContents.of(file, options)
    if let raw = contents?.raw {
      if raw.areOfRAW(path: path) {
        self.init([0])
        return
      }
      guard contents?.isReduced != true else {
        throw BuildError(
          path,
          "is a RAW photograph by its name that LibRaw \(RawPhoto.version) does not read, and has small pictures only"
        )
      }
    }
    if let dicom = try SourcePicture.dicom(path) {
      guard dicom.frames <= PagesMessage.maximum else {
        throw BuildError(path, "is DICOM of \(dicom.frames) frames; at most \(PagesMessage.maximum) are read")
      }
      if let role = dicom.privateRole, !options.keepsAssociated {
        throw Self.onlyPrivate(path, role.rawValue)
      }
      if dicom.hasBurnedInAnnotation, !options.keepsAssociated {
        throw BuildError(
          path,
          "has text in its pixels that may name a patient (Burned In Annotation); --associated builds it")
      }
      if let damage = dicom.damage, options.failOn.refuses(damage) { throw BuildError(path, damage.reason) }
      self.init(Array(0..<dicom.frames))
      return
    }
    let first: Image
    do { first = try Image.source(path: path, access: .sequential) } catch {
      if contents?.isVentanas == true { throw Self.unreadVentana(path) }
      guard let loader = Image.loader(ofPath: path), !["tiffload", "pdfload"].contains(loader) else {
        throw .unopened(path, error)
      }
      // Damaged, and perhaps read in part.
      self.init([0])
      return
    }
    let count = first.int("n-pages") ?? 1
    guard let loader = Image.loader(ofPath: path), ["tiffload", "pdfload"].contains(loader) else {
      self.init([0])
      return
    }
    guard loader == "tiffload", let contents else {
      self.init(Array(0..<max(1, count)))
      return
    }
    if count > 1, let description = first.string("image-description"), Self.isScanners(description) {
      throw BuildError(path, "is a scanner's slide that OpenSlide does not read; its label is not built")
    }
    if contents.isVentanas { throw Self.unreadVentana(path) }
    if file.name.lowercased().hasSuffix(".vsi") {
      throw BuildError(
        path,
        "is an Olympus VSI slide, of which this file holds the overview alone, and which is not read here: convert it "
          + "to OME-TIFF, for example with 'bfconvert FILE FILE.ome.tif'")
    }
    guard !contents.pages.isEmpty || contents.leftOut.isEmpty || options.keepsAssociated else {
      throw Self.onlyPrivate(path, contents.namesLeftOut(options).joined(separator: " and "))
    }
    if let damage = contents.damage, options.failOn.refuses(damage) { throw BuildError(path, damage.reason) }
    // Directories that only libvips finds, behind a damaged one, are pages. Those of a file with too many may be
    // labels. Those behind one that libtiff refuses are found by this program alone.
    let unknown = Array((0..<count).dropFirst(contents.directoryCount))
    let further = contents.hasScenesAsPages || contents.isCutShort ? [] : unknown
    let pages = contents.pages.filter { $0 < count || contents.directory($0)?.mayBePage == true } + further
    self.init(pages.isEmpty ? [contents.leftOut.first?.directory ?? 0] : pages)
    leftOut = contents.leftOut(options, isStack: false)
    if contents.isCutShort, !unknown.isEmpty {
      leftOut.append("\(unknown.count) pages whose descriptions are not read")
    }
    guard pages.count > 1 else {
      self = Self(single: self)
      return
    }
    // Channels, depth and time points are one picture's.
    if !contents.hasScenesAsPages {
      do throws(ImagingError) {
        let stack = try contents.planes(options).flatMap { (planes) throws(ImagingError) in
          try ImageStack(planes, pages: contents.directoryCount, path: path, options)
        }
        if stack != nil || contents.mayBePyramid && ReducedPages.areCopies(pages, path: path) {
          self = Self(single: self)
          return
        }
        if contents.planes(options) is OMEPixels, contents.elsewhere == nil {
          leftOut.append("planes that its OME-XML describes and the file does not hold")
        }
      } catch { throw BuildError(path, error) }
    }
    masks = contents.masks
    if options.keepsAssociated {
      associated = AssociatedImage.allCases.filter { contents.associated[$0] != nil }
    }
  }

  private static func onlyPrivate(_ path: String, _ names: String) -> BuildError {
    BuildError(path, "holds only the \(names) of a slide, which may name a patient; --associated builds it")
  }

  private static func unreadVentana(_ path: String) -> BuildError {
    BuildError(
      path,
      "is a Ventana BIF slide of a kind that OpenSlide does not read: convert it to OME-TIFF, for example with "
        + "'bfconvert FILE FILE.ome.tif'")
  }

  private init(single pages: SourcePages) {
    directories = [pages.directories.first ?? 0]
    leftOut = pages.leftOut
  }

  /// Whether a description is that of a slide scanner's TIFF, which also holds a label and the whole glass. As pages,
  /// these would be published unasked.
  private static func isScanners(_ description: String) -> Bool {
    description.hasPrefix("Aperio")
      || ["DPUfsImport", "leica-microsystems.com/scn"].contains(where: description.contains)
  }

  /// Returns the description of a PDF of several pages as a book; nil for any other source.
  static func book(path: String) -> BookDescription? {
    PDFDocument(path: path).map { document in
      var book = BookDescription()
      book.metadata = ImageMetadata(DocumentMetadata(document))
      // A book's description has one field for each.
      book.metadata.license = book.metadata.license ?? book.metadata.webStatement
      book.metadata.rights = book.metadata.rights ?? book.metadata.usageTerms
      book.viewingDirection = document.isRightToLeft ? .rightToLeft : nil
      book.chapters = document.outline.map {
        BookDescription.Chapter(title: $0.title, page: String($0.page), level: $0.depth)
      }
      return book
    }
  }
}
