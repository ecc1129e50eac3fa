import Imaging
import TileStorage

/// The pictures of a TIFF file: its pages, the picture that is shown, and what is left out, as labels and macros of slides,
/// reduced copies and masks.
///
/// Decided by what the file says, without a pixel, in the process that starts builds as in the one that decodes.
struct SourceContents {
  /// A picture that is no page.
  struct LeftOut: Hashable, Codable, Sendable {
    let role: PictureRole
    /// Counted from 0.
    let directory: Int
  }

  /// Directories whose pictures are pages, counted from 0; none if every picture is left out.
  let pages: [Int]
  let leftOut: [LeftOut]
  /// The index of the OME-TIFF image that is shown, counted from 0.
  let image: Int
  /// The first directory of that image, or of the pages.
  let first: Int
  /// What the file says of itself as a camera's RAW file; nil for any other.
  private(set) var raw: RawSigns?
  private let directories: [TIFFDirectories.Directory]

  /// A RAW file: one picture, whatever its directories have.
  private init(raw: RawSigns) {
    (self.raw, pages, leftOut, image, first, directories) = (raw, [0], [], 0, 0, [])
  }

  /// The contents of a TIFF, or of a camera's RAW file; nil for any other file.
  static func of(_ file: SourceFile) -> SourceContents? {
    let tiff = TIFFDirectories(file)
    let raw = RawSigns(file, tiff: tiff)
    if let raw, raw.isCertain || tiff == nil { return SourceContents(raw: raw) }
    return tiff.map { tiff in
      var contents = SourceContents(tiff)
      contents.raw = raw
      return contents
    }
  }

  /// Whether the pictures are reduced ones, as far as the file says.
  var isReduced: Bool { pages.allSatisfy { directory($0)?.isReduced == true } }

  /// `nil` if the file is no TIFF.
  init?(_ file: SourceFile) {
    guard let tiff = TIFFDirectories(file) else { return nil }
    self.init(tiff)
  }

  init(_ tiff: TIFFDirectories) {
    directories = tiff.all
    var roles = Self.roles(tiff.all)
    let images = tiff.all.first.flatMap { OMEImages($0.description) }?.all ?? []
    for image in images {
      guard
        let role = images.count > 1 ? PictureRole(mentionedIn: image.name) : PictureRole(named: image.name),
        role.isPrivate
      else { continue }
      for directory in image.directories where tiff.all.indices.contains(directory) {
        roles[directory] = role
      }
    }
    // Slides have magnifications, of which the first is the greatest.
    var pages = tiff.all.indices.filter { roles[$0] == nil }
    if pages.isEmpty,
      let largest = tiff.all.indices.filter({ [.reduced, .thumbnail].contains(roles[$0]) }).max(by: {
        tiff.all[$0].area < tiff.all[$1].area
      })
    {
      // A file of small copies alone has nothing better.
      roles[largest] = nil
      pages = [largest]
    }
    self.pages = pages
    leftOut = roles.sorted { $0.key < $1.key }.map { LeftOut(role: $0.value, directory: $0.key) }
    let shown = images.indices.first { index in
      images[index].directories.allSatisfy { roles[$0] == nil } && !images[index].directories.isEmpty
    }
    image = shown ?? 0
    first = shown.flatMap { images[$0].directories.min() } ?? pages.first ?? 0
  }

  private static func roles(_ all: [TIFFDirectories.Directory]) -> [Int: PictureRole] {
    var roles: [Int: PictureRole] = [:]
    for (index, directory) in all.enumerated() { roles[index] = role(directory, isAlone: all.count == 1) }
    return roles
  }

  private static func role(_ directory: TIFFDirectories.Directory, isAlone: Bool) -> PictureRole? {
    if let lens = directory.sourceLens, lens < 0 { return lens < -1.5 ? .overview : .macro }
    if !OMEPixels.isOME(directory.description) {
      if let role = PictureRole(describedBy: directory.description), role.isPrivate || !isAlone {
        return role
      }
    }
    if let role = PictureRole(named: directory.documentName), role.isPrivate { return role }
    let named =
      isAlone ? PictureRole(named: directory.pageName) : PictureRole(mentionedIn: directory.pageName)
    if let named, named.isPrivate { return named }
    // Aperio's macros; by themselves the other bits are DNG's.
    if directory.subfileType & 8 != 0 { return .macro }
    if directory.isMask { return .mask }
    return directory.isReduced ? .reduced : nil
  }

  // MARK: What is made of it

  var directoryCount: Int { directories.count }

  /// Returns what the file says of one of its pictures, counted from 0.
  func directory(_ number: Int) -> TIFFDirectories.Directory? {
    directories.indices.contains(number) ? directories[number] : nil
  }

  /// Whether pages are one picture and its copies, each half of the one before, within a pixel of rounding.
  var isPyramid: Bool {
    guard pages.count > 1, pages.allSatisfy(directories.indices.contains) else { return false }
    return zip(pages, pages.dropFirst()).allSatisfy { larger, smaller in
      let (larger, smaller) = (directories[larger], directories[smaller])
      // There is nothing smaller: whole directories of such pages are no pyramid.
      return max(larger.width, larger.height) > 1 && abs(smaller.width - larger.width / 2) <= 1
        && abs(smaller.height - larger.height / 2) <= 1
    }
  }

  /// The first picture of each role that `--associated` builds.
  var associated: [AssociatedImage: Int] {
    var associated: [AssociatedImage: Int] = [:]
    for each in leftOut {
      if let name = each.role.associated, associated[name] == nil { associated[name] = each.directory }
    }
    return associated
  }

  /// What `--associated` builds beside the picture: a label alone is the picture itself.
  var besidesPicture: [AssociatedImage] {
    let picture = pages.isEmpty ? leftOut.first?.directory : nil
    let associated = associated
    return AssociatedImage.allCases.filter { associated[$0] != nil && associated[$0] != picture }
  }

  /// The role of a directory that is left out; nil for a page's.
  func role(of directory: Int) -> PictureRole? { leftOut.first { $0.directory == directory }?.role }

  /// Returns the names of what a build with these options leaves out, each once.
  func namesLeftOut(_ options: BuildOptions) -> [String] {
    let built = options.keepsAssociated ? Set(associated.values) : []
    var names: [String] = []
    for each in leftOut where !built.contains(each.directory) && !names.contains(each.role.rawValue) {
      names.append(each.role.rawValue)
    }
    return names
  }

  /// The names of the pictures that no archive of the file shows; nil if there are none.
  var omitted: [String]? {
    let roles = leftOut.map(\.role).filter { ![.reduced, .thumbnail].contains($0) }
    return roles.isEmpty ? nil : Array(Set(roles.map(\.rawValue))).sorted()
  }

  /// Whether an archive shows what it would be built of now.
  ///
  /// - Parameter page: of several, counted from 1; nil for the picture itself.
  func agrees(with record: BuildRecord, page: Int?) -> Bool {
    // OpenSlide knows by itself which picture is the slide's.
    if record.route.contains("openslide") || record.associatedAs != nil { return true }
    // Earlier versions built the preview.
    if let raw, raw.isCertain || record.isOfRAW { return record.isOfRAW }
    let shown = (record.directory ?? record.page ?? 1) - 1
    guard let page else { return record.page == nil && shown == first }
    return pages.indices.contains(page - 1) && shown == pages[page - 1]
  }

  /// The private picture that an archive shows although nobody asked for it; nil for others.
  func published(by record: BuildRecord) -> PictureRole? {
    guard !record.route.contains("openslide"), record.associatedAs == nil, !record.keepsAssociated else {
      return nil
    }
    var directory = (record.directory ?? record.page ?? 1) - 1
    // Earlier versions showed the first image of an OME-TIFF, wherever in the file it lies.
    if record.page == nil, record.directory == nil, record.dimensions != nil, let image = firstImage {
      directory = image.directories.first ?? directory
    }
    return role(of: directory).flatMap { $0.isPrivate ? $0 : nil }
  }

  private var firstImage: OMEImages.Image? {
    directories.first.flatMap { OMEImages($0.description) }?.all.first
  }
}

extension SourceFile {
  private var start: [UInt8] {
    PlacedReader(descriptor: handle.descriptor, size: identity.size)
      .bytes(0, min(identity.size, ImageSignature.byteCount)) ?? []
  }

  /// The slide that the file is, by its scanner's name for it; nil for any other.
  func slide(contents: TIFFDirectories?) -> UnreadFormat? {
    let named = UnreadFormat(start, named: name)
    guard let contents else { return named }
    // One picture alone is one to every decoder of TIFF.
    guard contents.all.count > 1, let first = contents.all.first else { return nil }
    let scanners = [
      "Aperio": "Aperio SVS", "DPUfsImport": "Philips TIFF", "leica-microsystems.com/scn": "Leica SCN",
      "iScan": "Ventana BIF",
    ]
    for (mark, scanner) in scanners.sorted(by: { $0.key < $1.key })
    where mark == "Aperio" ? first.description.hasPrefix(mark) : first.description.contains(mark) {
      return .slide(scanner)
    }
    return first.sourceLens != nil ? .slide("Hamamatsu NDPI") : named
  }
}
