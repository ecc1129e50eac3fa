import TileStorage
import ZigguratFiles
import ZigguratImaging

/// The pictures of a TIFF file: its pages, the shown picture, and the pictures that are left out. Those are labels and
/// macros of slides, reduced copies and masks.
///
/// They are determined without decoding a pixel, both in the process that starts builds and in the one that decodes.
struct SourceContents {
  /// A picture that is no page.
  struct LeftOut: Hashable, Codable, Sendable {
    let role: PictureRole
    /// Counted from 0.
    let directory: Int
  }

  /// Directories whose pictures are pages, counted from 0; none if every picture is left out.
  let pages: [Int]
  private(set) var leftOut: [LeftOut] = []
  /// The index of the OME-TIFF image that is shown, counted from 0.
  private(set) var image = 0
  /// The first directory of that image, or of the pages.
  private(set) var first = 0
  /// The file's properties as a camera's RAW file; nil for any other.
  private(set) var raw: RawFileInfo?
  /// The directories of pages' transparency masks, by the pages'; see `TIFFDirectories.directory`.
  private(set) var masks: [Int: Int] = [:]
  /// The images of an OME-TIFF that are no labels and the like, by their numbers.
  private(set) var scenes: [Scene] = []
  /// Whether each page is a scene.
  private(set) var hasScenesAsPages = false
  /// Planes in other files, as a noun phrase for reports; nil if there are none.
  private(set) var elsewhere: String?
  /// Damage of the list of pages, known without decoding a pixel; `nil` if there is none.
  private(set) var damage: SourceDamage?
  /// Whether the file may have further, unknown directories.
  private(set) var isCutShort = false
  private var directories: [TIFFDirectories.Directory] = []
  private var name = ""

  /// An image of an OME-TIFF.
  struct Scene: Hashable {
    let name: String
    /// Counted from 0, of all images.
    let image: Int
    /// Counted from 0; nil if the file holds no plane of it.
    let first: Int?
  }

  /// A RAW file: one picture, whatever its directories have.
  private init(raw: RawFileInfo) {
    self.raw = raw
    pages = [0]
  }

  /// The contents of a TIFF, or of a camera's RAW file; nil for any other file.
  ///
  /// - Throws: if a scene is wanted that the file has not.
  static func of(_ file: SourceFile, _ options: BuildOptions) throws(BuildError) -> SourceContents? {
    let tiff = TIFFDirectories(file)
    let raw = RawFileInfo(file, tiff: tiff)
    var contents: SourceContents?
    if let raw, raw.isCertain || tiff == nil {
      contents = SourceContents(raw: raw)
    } else if let tiff {
      contents = SourceContents(tiff, name: file.name, scene: options.scene)
      contents?.raw = raw
    }
    if case .one(let number)? = options.scene, let reason = contents.refusal(ofScene: number) {
      throw BuildError(file.path, reason)
    }
    return contents
  }

  /// Whether the pictures are reduced ones, as far as the file says.
  var isReduced: Bool { pages.allSatisfy { directory($0)?.isReduced == true } }

  /// `nil` if the file is no TIFF.
  init?(_ file: SourceFile) {
    guard let tiff = TIFFDirectories(file) else { return nil }
    self.init(tiff, name: file.name)
  }

  /// - Parameters:
  ///   - name: the file's.
  ///   - wanted: the scenes that are built; nil for the first.
  init(_ tiff: TIFFDirectories, name: String = "", scene wanted: SceneChoice? = nil) {
    directories = tiff.all
    isCutShort = tiff.isCutShort
    self.name = name
    var roles = Self.roles(tiff.all)
    let ome = tiff.all.first.flatMap { OMEText($0.description) }
    let images = ome?.images ?? []
    elsewhere =
      ome.flatMap { Self.elsewhere($0.filesBesides(name)) }
      ?? (tiff.damage == nil ? ImageJPlanes.withoutDirectories(tiff.all) : nil).map {
        "the \($0) planes behind the first, which ImageJ wrote without directories (save them as OME-TIFF)"
      }
    damage = tiff.damage ?? ImageJPlanes.damage(tiff.all, byteCount: tiff.reader.size)
    for image in images {
      guard
        let role = images.count > 1 ? PictureRole(mentionedIn: image.name) : PictureRole(named: image.name),
        role.isPrivate
      else { continue }
      for directory in image.directories where tiff.all.indices.contains(directory) {
        roles[directory] = role
      }
    }
    // Slides have magnifications; the first is the greatest.
    var pages = tiff.all.indices.filter { roles[$0] == nil }
    if pages.isEmpty,
      let largest = tiff.all.indices.filter({ [.reduced, .thumbnail, .mask].contains(roles[$0]) })
        .max(by: { tiff.all[$0].rank < tiff.all[$1].rank })
    {
      // A file of small copies, or a mask, alone has nothing better.
      roles[largest] = nil
      pages = [largest]
    }
    masks = Self.masks(tiff.all, pages: pages)
    leftOut = roles.sorted { $0.key < $1.key }.map { LeftOut(role: $0.value, directory: $0.key) }
    scenes = images.indices.filter { images[$0].directories.allSatisfy { roles[$0] == nil } }.map { index in
      Scene(
        name: images[index].name, image: index,
        first: images[index].directories.filter(tiff.all.indices.contains).min())
    }
    var shown = scenes.first { $0.first != nil }
    if case .one(let number)? = wanted, scenes.indices.contains(number - 1) { shown = scenes[number - 1] }
    image = shown?.image ?? 0
    first = shown?.first ?? pages.first ?? 0
    var firsts: [Int] = []
    for scene in scenes {
      if let first = scene.first, !firsts.contains(first) { firsts.append(first) }
    }
    hasScenesAsPages = wanted == .all && firsts.count > 1
    self.pages = hasScenesAsPages ? firsts : pages
  }

  private static func elsewhere(_ files: [String]) -> String? {
    guard !files.isEmpty else { return nil }
    return "what lies in other files (\(files.listed(atMost: 3)))"
  }

  private static func roles(_ all: [TIFFDirectories.Directory]) -> [Int: PictureRole] {
    var roles: [Int: PictureRole] = [:]
    // Thousands of pictures may share one description.
    var described: [String: (role: PictureRole?, isUnreadable: Bool)] = [:]
    let largest = all.map(\.area).max() ?? 0
    for (index, directory) in all.enumerated() {
      let text = directory.descriptions
      let (role, isUnreadable) =
        described[text] ?? (PictureRole(describedBy: text), PictureRole.isUnreadable(text))
      described[text] = (role, isUnreadable)
      // Labels are far smaller than their pictures.
      let isSmall = directory.area < largest / 2
      let small = isSmall ? PictureRole(ofSmallPictureDescribedBy: text) : nil
      roles[index] = Self.role(directory, describedAs: role ?? small, isAlone: all.count == 1)
      let isUnread = directory.hasUnreadText || isUnreadable && !OMEText.isOME(directory.description)
      if roles[index] == nil, isSmall, isUnread { roles[index] = .unread }
    }
    return roles
  }

  private static func role(
    _ directory: TIFFDirectories.Directory, describedAs described: PictureRole?, isAlone: Bool
  ) -> PictureRole? {
    if let lens = directory.sourceLens, lens < 0 { return lens < -1.5 ? .overview : .macro }
    if let described, described.isPrivate || !isAlone, !OMEText.isOME(directory.description) {
      return described
    }
    let documents = directory.documentNames.lazy.compactMap { PictureRole(pathed: $0) }
    if let role = documents.first(where: \.isPrivate) { return role }
    let pages = directory.pageNames.lazy.compactMap {
      isAlone ? PictureRole(named: $0) : PictureRole(mentionedIn: $0)
    }
    if let role = pages.first(where: \.isPrivate) { return role }
    // Aperio's macros; by themselves the other bits are DNG's.
    if directory.subfileType & 8 != 0 { return .macro }
    if directory.isReduced { return .reduced }
    return directory.isMask ? .mask : nil
  }

  /// The first mask of each page's size that comes before the next page, or the last one that comes between it and the
  /// page before, and is not that page's, or else the first one that the page lists in `SubIFDs`.
  private static func masks(_ all: [TIFFDirectories.Directory], pages: [Int]) -> [Int: Int] {
    var masks: [Int: Int] = [:]
    // The numbers of the directories' parts.
    var firstParts: [Int] = []
    var next = all.count
    for directory in all {
      firstParts.append(next)
      next += directory.parts.count
    }
    for (place, page) in pages.enumerated() where !all[page].isMask {
      let end = place + 1 < pages.count ? pages[place + 1] : all.count
      func isMask(_ number: Int) -> Bool { all[page].hasMask(all[number]) }
      let part = all[page].parts.firstIndex(where: all[page].hasMask).map { firstParts[page] + $0 }
      let start = place == 0 ? 0 : pages[place - 1] + 1
      let taken = place == 0 ? nil : masks[pages[place - 1]]
      masks[page] =
        (page..<max(page, end)).first(where: isMask)
        ?? (min(start, page)..<page).last { isMask($0) && $0 != taken }
        // A message of pages has no larger numbers.
        ?? part.flatMap { $0 < NumberList.maximum ? $0 : nil }
    }
    return masks
  }

  // MARK: Results

  var directoryCount: Int { directories.count }

  /// Whether a scanner of Ventana's made the file.
  var isVentanas: Bool { directories.contains(where: \.isVentanas) }

  /// Returns a directory of the file, counted from 0.
  func directory(_ number: Int) -> TIFFDirectories.Directory? {
    directories.indices.contains(number) ? directories[number] : nil
  }

  /// Whether pages may be one picture and its copies: each is half of the one before, within a pixel of rounding, and
  /// no tag or text says that they are pages. Whether they are, `ReducedPages` finds in their pixels.
  var mayBePyramid: Bool {
    guard pages.count > 1, pages.allSatisfy(directories.indices.contains) else { return false }
    let names = pages.flatMap { directories[$0].pageNames }
    return !pages.contains { directories[$0].isCalledPage } && Set(names).count < 2
      && zip(pages, pages.dropFirst()).allSatisfy { larger, smaller in
        directories[smaller].mayBeReduced(from: directories[larger])
          && ["", directories[pages[0]].descriptions].contains(directories[smaller].descriptions)
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

  /// The pictures that `--associated` builds beside the picture: a label alone is the picture itself.
  var besidesPicture: [AssociatedImage] {
    let picture = pages.isEmpty ? leftOut.first?.directory : nil
    let associated = associated
    return AssociatedImage.allCases.filter { associated[$0] != nil && associated[$0] != picture }
  }

  /// The role of a directory that is left out; nil for a page's.
  func role(of directory: Int) -> PictureRole? { leftOut.first { $0.directory == directory }?.role }

  /// Returns the names of the pictures that a build with these options leaves out, each once.
  func namesLeftOut(_ options: BuildOptions) -> [String] {
    let built = Set(masks.values).union(
      options.keepsAssociated ? Set(associated.values) : [])
    var names: [String] = []
    for each in leftOut where !built.contains(each.directory) && !names.contains(each.role.rawValue) {
      names.append(each.role.rawValue)
    }
    return names
  }

  /// Returns the names of the parts of the shown picture that a build with these options leaves out.
  ///
  /// - Parameter isStack: whether the picture is one of several scenes, and not one of several pages.
  func leftOut(_ options: BuildOptions, isStack: Bool) -> [String] {
    var names = namesLeftOut(options)
    let others = scenes.count { $0.first != nil } - 1
    if isStack, others > 0, !hasScenesAsPages {
      names.append(
        "\(others) more \(others == 1 ? "scene" : "scenes") (--scene N or --scene all builds them)")
    }
    return names + (elsewhere.map { [$0] } ?? [])
  }

  /// Returns the planes of a stack; nil if the file is not a stack.
  ///
  /// - Parameter scene: the first directory of an image that is a page; nil for the image that is shown.
  func planes(_ options: BuildOptions, ofSceneAt scene: Int? = nil) -> (any StackPlanes)? {
    guard let text = directories.first, directories.count > 1 || options.asksForPlanes else { return nil }
    var (image, first) = (image, first)
    if let scene {
      guard hasScenesAsPages, let found = scenes.first(where: { $0.first == scene }) else { return nil }
      image = found.image
      first = scene
    }
    let samples = directory(first)?.samples ?? 1
    if let planes = OMEPixels(text.description, image: image, at: first, samples: samples, name: name) {
      let isOne = planes.planeCount == 1 && !leftOut.contains(where: \.role.isPrivate)
      return isOne && !options.asksForPlanes ? nil : planes
    }
    guard let planes = ImageJPlanes(text, pages: directories.count), planes.planeCount > 1,
      planes.isHyperstack || options.depth != nil || options.time != nil
    else { return nil }
    return planes
  }

  /// The names of the pictures that no archive of the file shows; nil if there are none.
  var omitted: [String]? {
    let masks = Set(masks.values)
    let roles = leftOut.filter { !masks.contains($0.directory) }.map(\.role).filter {
      ![.reduced, .thumbnail].contains($0)
    }
    return roles.isEmpty ? nil : Array(Set(roles.map(\.rawValue))).sorted()
  }

  /// Returns the names of data that neither the picture that is shown nor its copies show.
  ///
  /// - Parameter hasPartAsMask: whether a mask in `SubIFDs` is the picture's alpha.
  func unshown(hasPartAsMask: Bool) -> [String] {
    guard let shown = directory(first) else { return [] }
    let copies = leftOut.filter { [.reduced, .thumbnail].contains($0.role) }
    let isLarger = copies.contains { directories[$0.directory].area > shown.area }
    return shown.unshown(hasPartAsMask: hasPartAsMask)
      + (isLarger ? ["a larger picture that the file calls a reduced copy"] : [])
  }

  /// Whether an archive shows the picture that would be built now.
  ///
  /// - Parameter page: the page, counted from 1; nil for the picture itself.
  func agrees(with record: BuildRecord, page: Int?) -> Bool {
    // OpenSlide knows by itself which picture is the slide's.
    if record.route.contains("openslide") || record.associatedAs != nil { return true }
    // Earlier versions built the preview.
    if let raw, raw.isCertain || record.isOfRAW { return record.isOfRAW }
    let shown = (record.directory ?? record.page ?? 1) - 1
    guard let page else { return record.page == nil && shown == first }
    return pages.indices.contains(page - 1) && shown == pages[page - 1]
  }

  /// Returns the private picture that an archive shows without a request; nil for other archives.
  func published(by record: BuildRecord) -> PictureRole? {
    guard !record.route.contains("openslide"), record.associatedAs == nil, !record.keepsAssociated else {
      return nil
    }
    var directory = (record.directory ?? record.page ?? 1) - 1
    // Earlier versions showed the first image of an OME-TIFF, wherever in the file it lies.
    if record.page == nil, record.directory == nil, record.dimensions != nil,
      let image = directories.first.flatMap({ OMEText($0.description) })?.images.first
    {
      directory = image.directories.first ?? directory
    }
    return role(of: directory).flatMap { $0.isPrivate ? $0 : nil }
  }
}

extension TIFFDirectories.Directory {
  /// Whether the picture has half the sides of another one, within a pixel of rounding, and the same samples.
  fileprivate func mayBeReduced(from larger: Self) -> Bool {
    // There is nothing smaller than one pixel: whole directories of such pages are no pyramid.
    max(larger.width, larger.height) > 1 && abs(width - larger.width / 2) <= 1
      && abs(height - larger.height / 2) <= 1 && samples == larger.samples && bits == larger.bits
      && photometric == larger.photometric
  }

  /// Whether another directory is the transparency mask of this one.
  fileprivate func hasMask(_ other: Self) -> Bool {
    other.isMask && !other.isReduced && other.width == width && other.height == height
  }

  /// Returns the names of data beside the picture that no copy of it shows.
  ///
  /// - Parameter hasPartAsMask: whether a mask in `SubIFDs` is the picture's alpha.
  func unshown(hasPartAsMask: Bool) -> [String] {
    let others = parts.count { !isCopy($0) }
    let masks = parts.count(where: hasMask) - (hasPartAsMask ? 1 : 0)
    return (hasLayers ? ["layers"] : []) + (masks > 0 ? ["a transparency mask in SubIFDs"] : [])
      + (others == 0 ? [] : ["\(others) further \(others == 1 ? "picture" : "pictures")"])
  }

  /// Whether a part is the picture in a lower resolution, or its mask. Some programs do not mark the levels of a
  /// pyramid.
  private func isCopy(_ part: Self) -> Bool {
    if part.isReduced || part.isMask { return part.area <= area }
    guard part.area < area, part.samples == samples, part.width > 0, part.height > 0 else { return false }
    // Each side is rounded.
    let scale = max(Double(width) / Double(part.width), Double(height) / Double(part.height))
    return abs(Double(width) / scale - Double(part.width)) <= 1
      && abs(Double(height) / scale - Double(part.height)) <= 1
  }
}

extension SourceFile {
  /// Returns the slide that the file is; nil for any other.
  func slide(contents: TIFFDirectories?) -> SlideFormat? {
    let named = SlideFormat(bytes(atMost: ImageFormat.signatureBytes), named: name)
    guard let contents else { return named }
    // One picture alone is one to every decoder of TIFF.
    guard contents.all.count > 1, let first = contents.all.first else { return nil }
    let scanners = [
      "Aperio": "Aperio SVS", "DPUfsImport": "Philips TIFF", "leica-microsystems.com/scn": "Leica SCN",
      "iScan": "Ventana BIF",
    ]
    for (mark, scanner) in scanners.sorted(by: { $0.key < $1.key })
    where mark == "Aperio" ? first.description.hasPrefix(mark) : first.description.contains(mark) {
      return SlideFormat(scanner)
    }
    return first.sourceLens != nil ? SlideFormat("Hamamatsu NDPI") : named
  }
}

extension SourceContents? {
  /// Returns why a scene, counted from 1, cannot be built; nil if it can.
  fileprivate func refusal(ofScene number: Int) -> String? {
    let scenes = self?.scenes ?? []
    guard number <= Swift.max(1, scenes.count) else {
      guard scenes.count > 1 else { return "has no scene \(number): it has one" }
      let names = scenes.map(\.name).listed(atMost: 20)
      return "has no scene \(number); its \(scenes.count) scenes are \(names)"
    }
    if scenes.indices.contains(number - 1), scenes[number - 1].first == nil {
      return "holds no plane of scene \(number) (\(scenes[number - 1].name)), which lies in another file"
    }
    return nil
  }
}
