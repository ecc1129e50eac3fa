import Files
import Imaging
import Metadata
public import TileGeometry
public import TileStorage

/// Builds the archive of one image, in this process: whoever builds what strangers made lets `ziggurat build` do it,
/// whose decoders are confined.
public struct PyramidBuilder: Sendable {
  /// What decides the archives' bytes, beside their sources.
  public var options: BuildOptions
  /// How many threads work on the one image.
  public var threads: Int
  private let isCancelled: @Sendable () -> Bool

  /// A builder of archives, one at a time or several.
  ///
  /// - Parameters:
  ///   - options: what decides the archives' bytes, beside their sources.
  ///   - threads: how many threads work on each image.
  ///   - isCancelled: asked between strips; true ends the build with an error and leaves nothing.
  public init(
    options: BuildOptions = BuildOptions(), threads: Int,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.options = options
    self.threads = threads
    self.isCancelled = isCancelled
  }

  /// What a build made.
  public struct Report: Hashable, Sendable {
    /// The archive's levels and tiles.
    public let pyramid: Pyramid
    /// The archive's size in bytes.
    public let byteCount: Int
    /// In a clause for a person, by which way the tiles were made, and why.
    public let route: String
    /// What was done to every pixel on the way, a clause each.
    public let steps: [String]
    /// Pictures of the file that were not built, as a slide's label, by their names.
    public internal(set) var leftOut: [String] = []
    /// Damage in the source that the picture shows; nil if there is none.
    public internal(set) var damage: SourceDamage?
    /// Data of the source that the archive does not show, such as a gain map.
    public internal(set) var dropped: [String] = []
  }

  /// Tiles `source` into an SZI archive that appears at `destination` when it is complete.
  ///
  /// - Parameters:
  ///   - source: any file that libvips loads.
  ///   - destination: its folder exists; an archive of that name is replaced.
  ///   - name: of the archive's root folder, one path component.
  /// - Returns: what was made.
  /// - Throws: `BuildError`, after which nothing of the archive is left and an older one stands as it was.
  public func build(_ source: String, to destination: String, name: String) throws(BuildError) -> Report {
    let file = try SourceFile(path: source)
    let words = try SourceSidecar(ofSourceAt: source)?.words() ?? .none
    return try build(file, digest: file.digest(), words: words) { (pyramid, format) throws(StorageError) in
      try SZIWriter(destination: destination, name: name, pyramid: pyramid, format: format)
    }
  }

  func build(
    _ file: SourceFile, page: SourcePage? = nil, folio: String? = nil, associated: AssociatedImage? = nil,
    digest: String,
    words: SourceWords, for host: (any BuildHost)? = nil,
    into makeWriter: (Pyramid, TileFormat) throws(StorageError) -> any ArchiveWriter
  ) throws(BuildError) -> Report {
    let source = file.path
    do {
      let route = try SourceRoute(
        file: file, page: page?.directory, mask: page?.mask, associated: associated, options: options)
      let (pixels, options) = (route.source, route.options)
      guard let size = PixelSize(width: pixels.width, height: pixels.height),
        let pyramid = Pyramid(imageSize: size, tileSize: options.tileSize)
      else { throw BuildError(source, "the image has no pixels") }
      // Before the writer, whose table of tiles is the largest thing of all where a header lies.
      let memory = MemoryNeed.bytes(of: pixels, pyramid, options, threads: threads)
      try host?.check(BuildPlan(pyramid: pyramid, format: options.format, memory: memory), source)
      let writer = try makeWriter(pyramid, options.format)
      defer { writer.abandon() }
      let scheduler = StripScheduler(
        source: pixels, pyramid: pyramid, options: options, profile: route.keptProfile, writer: writer,
        isCancelled: isCancelled)
      host?.begin(scheduler, memory: memory, source)
      defer { host?.end(scheduler, memory: memory) }
      try scheduler.run(threads: threads)
      var damage = try pixels.finish()
      // Decoders of our own do not know what was found before them.
      if let known = route.picture.log.worst, damage.map({ $0.kind < known.kind }) ?? true { damage = known }
      if let damage, options.failOn.refuses(damage) { throw BuildError(source, damage.reason) }
      let microns = route.micronsPerPixel
      try writer.append(
        "scan-properties.xml", Array(ScanProperties(imageSize: size, micronsPerPixel: microns).xml.utf8))
      var steps = route.steps + (options.shrinksLinearly ? ["shrunk in linear light"] : [])
      let animation = try SourceAnimation.read(file, &steps)
      var record = BuildRecord(
        sourceName: file.name, page: page.map { $0.number + 1 }, sourceBytes: file.identity.size,
        sourceDigest: digest, options: self.options.summary(ofSource: file.name), route: route.reason,
        steps: steps)
      record.damage = damage
      record.dropped = route.unshown.isEmpty ? nil : route.unshown
      record.reduced = route.reduced.isEmpty ? nil : route.reduced
      record.mayHoldLabel = page == nil ? route.mayHoldLabel : nil
      record.micronsPerPixel = microns.map { [$0.x, $0.y] }
      record.animation = animation?.0
      record.folio = folio
      record.label = page.flatMap { PDFPage.label(path: source, page: $0.number) }
      record.dimensions = route.picture.stack?.dimensions
      record.associatedAs = associated?.rawValue
      if let contents = route.picture.contents, associated == nil {
        record.directory = contents.first == 0 ? nil : contents.first + 1
        // The fields of a stack say what is shown of it.
        record.omitted = route.picture.stack == nil ? contents.omitted : nil
      } else if let page, page.directory != page.number {
        record.directory = page.directory + 1
      }
      record.associatedImages = try SourceAssociates.append(of: route, to: writer)
      if let (animation, bytes) = animation { try writer.append(animation.entryName, bytes) }
      try words.words(
        record, own: associated == nil ? route.metadata(isPage: page != nil) : .init()
      )
      .append(to: writer)
      // A source that was written to while it was read gives neither its old nor its new picture.
      guard try file.isUnchanged() else {
        throw BuildError(source, "the file changed while it was read", isTemporary: true)
      }
      return Report(
        pyramid: pyramid, byteCount: try writer.finish(), route: route.reason, steps: steps,
        leftOut: associated == nil ? route.leftOut : [], damage: damage,
        dropped: route.unshown)
    } catch {
      let error = error as? BuildError ?? BuildError(source, error)
      let place = page.map { "page \($0.number + 1): " } ?? ""
      throw error.about(source, place)
    }
  }
}

extension BuildOptions {
  /// One line that differs wherever the archive's bytes would. The number in front counts the builder's
  /// own changes of what it writes.
  ///
  /// - Parameter name: of the source's file: what was drawn before resolutions were looked for is made again.
  func summary(ofSource name: String) -> String {
    "5 tile=\(tileSize) format=\(choosesFormat ? "auto" : format.fileExtension) fidelity=\(fidelity.name) quality=\(quality) "
      + "background=\(background.map(String.init).joined(separator: ",")) intent=\(intent.name)"
      + (shrinksLinearly ? " linear" : "")
      + (downsampling == .auto ? "" : " downsample=\(downsampling.name)")
      + (subsampling == .auto ? "" : " subsampling=\(subsampling.name)")
      + (keepsProfile ? " profile=keep" : "")
      + (resolution.map { " dpi=\($0)" } ?? (name.lowercased().hasSuffix(".pdf") ? " dpi=auto2" : ""))
      + (vectorSide.map { " size=\($0)" } ?? "") + (window.map { " window=\($0.name)" } ?? "")
      + (ImageFileName.isTIFF(name) ? summaryOfStack : "")
      + (raw != .camera && ImageFileName.mayBeRAW(name) ? " raw=\(raw.rawValue)" : "")
      + (keepsAssociated && ImageFileName.mayHoldLabel(name) ? " associated" : "")
      + (bands.map { " bands=\($0.map(String.init).joined(separator: ","))" } ?? "")
  }

  private var summaryOfStack: String {
    // A space separates options.
    let names = channels?.map { $0.replacing("%", with: "%25").replacing(" ", with: "%20") }
    return (names.map { " channels=\($0.joined(separator: ","))" } ?? "")
      + (scene.map { " scene=\($0.name)" } ?? "") + (depth.map { " depth=\($0)" } ?? "")
      + (time.map { " time=\($0)" } ?? "")
  }

  /// Of a record's line what somebody has asked for: without the number that is another where the program builds
  /// otherwise, and without what it says unasked of some sources.
  static func asked(_ summary: String) -> [Substring] {
    summary.split(separator: " ").dropFirst().filter { !$0.hasPrefix("dpi=auto") }
  }
}
