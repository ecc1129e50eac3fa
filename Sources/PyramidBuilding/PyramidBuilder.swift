public import TileGeometry
public import TileStorage
import ZigguratFiles
import ZigguratImaging
import ZigguratMetadata

/// Builds archives of tiles from images.
///
/// A builder is a value: several tasks can build with it at the same time. A build needs memory for a few rows of
/// tiles, whatever the height of the image.
public struct PyramidBuilder: Sendable {
  /// The options of the archives.
  public var options: BuildOptions
  /// The number of threads that work on an image, 1 to 1024.
  public var threads: Int
  /// The encoder of all tiles; `nil` for the builder's own. It replaces `BuildOptions.format`, `choosesFormat` and
  /// `quality`, and makes `BuildOptions.fidelity` `exact`.
  public var encoder: (any TileEncoder)?
  /// Asked between strips; true ends the build with an error and leaves nothing.
  var isCancelled: @Sendable () -> Bool
  /// As `StripScheduler` has it.
  var onProgress: (@Sendable (Double) -> Void)?

  /// Creates a builder. Values outside their range are reported by a build, as `invalidArgument`.
  ///
  /// - Parameters:
  ///   - options: the options of the archives.
  ///   - threads: the number of threads that work on an image, 1 to 1024.
  ///   - encoder: the encoder of all tiles; `nil`, the default, for the builder's own.
  public init(
    options: BuildOptions = BuildOptions(), threads: Int, encoder: (any TileEncoder)? = nil
  ) {
    self.init(options: options, threads: threads, encoder: encoder, isCancelled: { false })
  }

  /// - Parameter isCancelled: asked between strips; true ends the build with an error and leaves nothing.
  package init(
    options: BuildOptions = BuildOptions(), threads: Int, encoder: (any TileEncoder)? = nil,
    isCancelled: @escaping @Sendable () -> Bool
  ) {
    self.options = options
    self.threads = threads
    self.encoder = encoder
    self.isCancelled = isCancelled
  }

  /// A description of an archive that was built.
  public struct Report: Hashable, Sendable {
    /// The archive's levels and tiles.
    public let pyramid: Pyramid
    /// The archive's size in bytes.
    public let byteCount: Int
    /// The way from source to tiles and the reason for it, in a clause for a person.
    public let route: String
    /// The conversions of every pixel, a clause for a person each.
    public let steps: [String]
    /// Images of the file that were not built, such as a slide's label, by their names.
    public internal(set) var leftOut: [String] = []
    /// Damage of the source that the tiles show; `nil` if there is none.
    public internal(set) var damage: SourceDamage?
    /// Data of the source that the archive does not contain, such as a gain map, by their names.
    public internal(set) var dropped: [String] = []
  }

  /// Builds the archive of a file on the caller's thread and others.
  package func build(_ source: String, to destination: String, name: String) throws(BuildError) -> Report {
    let file = try SourceFile(path: source)
    let metadata = try SourceSidecar(ofSourceAt: source)?.metadata() ?? .none
    let digest = try file.digest(isCancelled)
    return try build(file, digest: digest, metadata: metadata) { (pyramid, format) throws(StorageError) in
      try SZIWriter(destination: destination, name: name, pyramid: pyramid, format: format)
    }
  }

  /// Builds the archive of supplied pixels on the caller's thread and others. It has no build record: no file is its
  /// source.
  func build<Source: PixelSource>(
    pixels source: Source, to destination: String, name: String
  ) throws(BuildError) -> Report {
    guard options.bands == nil else {
      throw BuildError(name, "bands cannot be chosen from supplied pixels", .invalidArgument)
    }
    var options = effectiveOptions
    if options.choosesFormat { options.format = [2, 4].contains(source.bands) ? .webp : .jpeg }
    if options.downsampling == .auto { options.downsampling = .mean }
    let pixels = try SuppliedPixels(source, name: name, options: options)
    guard let size = PixelSize(width: pixels.width, height: pixels.height),
      let pyramid = Pyramid(imageSize: size, tileSize: options.tileSize)
    else { throw BuildError(name, "the image has no pixels", .invalidArgument) }
    if let refusal = TileArchiveWriter.refusal(name: name, pyramid) {
      throw BuildError(name, refusal, .invalidArgument)
    }
    do {
      let writer = try SZIWriter(
        destination: destination, name: name, pyramid: pyramid, format: options.format)
      defer { writer.abandon() }
      try scheduler(pixels, pyramid, options, profile: nil, writer).run(threads: threads)
      let properties = ScanProperties(imageSize: size, micronsPerPixel: source.micronsPerPixel)
      try writer.append(ScanProperties.entryName, Array(properties.xml.utf8))
      return Report(
        pyramid: pyramid, byteCount: try writer.finish(), route: "exact: pixels of the program",
        steps: pixels.steps + (options.downsampling == .linear ? [Self.linearStep] : []))
    } catch {
      let error = BuildError(name, error)
      throw error.about(name, error.reason)
    }
  }

  private static let linearStep = "shrunk in linear light"

  /// The options with those that the encoder decides.
  private var effectiveOptions: BuildOptions {
    var options = options
    if let encoder {
      options.format = encoder.format
      options.choosesFormat = false
      options.fidelity = .exact
    }
    return options
  }

  private func scheduler(
    _ source: any StripSource, _ pyramid: Pyramid, _ options: BuildOptions, profile: [UInt8]?,
    _ writer: any ArchiveWriter
  ) -> StripScheduler {
    StripScheduler(
      source: source, pyramid: pyramid, options: options, profile: profile, writer: writer,
      encoder: encoder, isCancelled: isCancelled, onProgress: onProgress)
  }

  func build(
    _ file: SourceFile, page: SourcePage? = nil, folio: String? = nil, associated: AssociatedImage? = nil,
    digest: String,
    metadata: SourceMetadata, for host: (any BuildHost)? = nil,
    into makeWriter: (Pyramid, TileFormat) throws(StorageError) -> any ArchiveWriter
  ) throws(BuildError) -> Report {
    let source = file.path
    do {
      let route = try SourceRoute(
        file: file, page: page?.directory, mask: page?.mask, associated: associated,
        options: effectiveOptions)
      let (pixels, options) = (route.source, route.options)
      guard let size = PixelSize(width: pixels.width, height: pixels.height),
        let pyramid = Pyramid(imageSize: size, tileSize: options.tileSize)
      else { throw BuildError(source, "the image has no pixels") }
      // Before the writer, whose table of tiles is the largest thing of all where a header lies.
      let memory = MemoryNeed.bytes(of: pixels, pyramid, options, threads: threads)
      try host?.check(BuildPlan(pyramid: pyramid, format: options.format, memory: memory), source)
      let writer = try makeWriter(pyramid, options.format)
      defer { writer.abandon() }
      let scheduler = scheduler(pixels, pyramid, options, profile: route.keptProfile, writer)
      host?.begin(scheduler, memory: memory, source)
      defer { host?.end(scheduler, memory: memory) }
      try scheduler.run(threads: threads)
      var damage = try pixels.finish()
      // Own decoders do not know the damage that was found before them.
      if let known = route.picture.log.worst, damage.map({ $0.kind < known.kind }) ?? true { damage = known }
      let flaws = [damage, pixels.truncation, route.picture.log.truncation].compactMap(\.self)
      if let refused = flaws.first(where: options.failOn.refuses) { throw BuildError(source, refused.reason) }
      let microns = route.micronsPerPixel
      try writer.append(
        ScanProperties.entryName, Array(ScanProperties(imageSize: size, micronsPerPixel: microns).xml.utf8))
      var steps = route.steps + (options.downsampling == .linear ? [Self.linearStep] : [])
      let animation = try SourceAnimation.read(file, &steps)
      var record = BuildRecord(
        sourceName: file.name, page: page.map { $0.number + 1 }, sourceBytes: file.identity.size,
        sourceDigest: digest,
        options: self.options.summary(ofSource: file.name) + (encoder == nil ? "" : " encoder=other"),
        route: route.reason, steps: steps)
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
        // The fields of a stack describe the shown part.
        record.omitted = route.picture.stack == nil ? contents.omitted : nil
      } else if let page, page.directory != page.number {
        record.directory = page.directory + 1
      }
      record.associatedImages = try SourceAssociates.append(of: route, to: writer)
      if let (animation, bytes) = animation { try writer.append(animation.entryName, bytes) }
      try metadata.metadata(
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
      let error = BuildError(source, error)
      let place = page.map { "page \($0.number + 1): " } ?? ""
      throw error.about(source, place + error.reason)
    }
  }
}

extension BuildOptions {
  /// Returns one line that differs whenever the archive's bytes would. The number at its start is a version of the
  /// builder's output.
  ///
  /// - Parameter name: the name of the source's file. Drawings of versions before resolution detection are rebuilt.
  func summary(ofSource name: String) -> String {
    "5 tile=\(tileSize) format=\(choosesFormat ? "auto" : format.fileExtension) fidelity=\(fidelity.name) quality=\(quality) "
      + "background=\(background.map(String.init).joined(separator: ",")) intent=\(intent.name)"
      + summaryOfDownsampling
      + (subsampling == .auto ? "" : " subsampling=\(subsampling.name)")
      + (keepsProfile ? " profile=keep" : "")
      + (resolution.map { " dpi=\($0)" } ?? (name.lowercased().hasSuffix(".pdf") ? " dpi=auto2" : ""))
      + (window.map { " window=\($0.name)" } ?? "")
      + (ImageFileName.isTIFF(name) ? summaryOfStack : "")
      + (raw != .camera && ImageFileName.mayBeRAW(name) ? " raw=\(raw.rawValue)" : "")
      + (keepsAssociated && ImageFileName.mayHoldLabel(name) ? " associated" : "")
      + (bands.map { " bands=\($0.map(String.init).joined(separator: ","))" } ?? "")
  }

  private var summaryOfDownsampling: String {
    switch downsampling {
    case .auto: ""
    case .linear: " linear"
    default: " downsample=\(downsampling.name)"
    }
  }

  private var summaryOfStack: String {
    // A space separates options.
    let names = channels?.map { $0.replacing("%", with: "%25").replacing(" ", with: "%20") }
    return (names.map { " channels=\($0.joined(separator: ","))" } ?? "")
      + (scene.map { " scene=\($0.name)" } ?? "") + (depth.map { " depth=\($0)" } ?? "")
      + (time.map { " time=\($0)" } ?? "")
  }

  /// Returns the requested parts of a record's line. It omits the number at the start, which differs between versions
  /// of the program, and automatic additions for some sources.
  static func asked(_ summary: String) -> [Substring] {
    summary.split(separator: " ").dropFirst().filter { !$0.hasPrefix("dpi=auto") }
  }
}
