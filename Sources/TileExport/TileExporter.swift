import Glibc
import Synchronization
import TileGeometry
package import TileStorage
import ZigguratConcurrency
package import ZigguratFiles
import ZigguratTileProtocols
import ZigguratTileRendering

/// An exporter of an archive's tiles as a folder of files for a plain web server.
///
/// If the layout's grid and format are the archive's, the tiles are copied byte for byte. Other tiles are composed of
/// the archive's pixels and re-encoded.
package struct TileExporter: Sendable {
  /// Counts of written tiles and bytes.
  package struct Report: Hashable, Sendable {
    package var copied = 0
    package var encoded = 0
    package var byteCount = 0
  }

  private let archive: TileArchive
  private let options: ExportOptions
  private let layout: any StaticLayout
  private let format: TileFormat
  private let renderer: RenderWorkers
  private let threads: Int
  private let isCancelled: @Sendable () -> Bool

  /// The timeout of one tile in seconds.
  private static let timeout = 120

  /// - Parameter isCancelled: called before each row of tiles. If it returns true, the export ends and leaves no files.
  package init(
    _ archive: TileArchive, options: ExportOptions, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(StorageError) {
    self.archive = archive
    self.options = options
    self.isCancelled = isCancelled
    (layout, format) = try Self.layout(of: archive, options)
    var rendering = TileRenderer.Options()
    rendering.quality = options.quality
    rendering.background = options.background
    rendering.isKept = true
    threads = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    renderer = RenderWorkers(options: rendering, threads: threads, timeout: Self.timeout)
  }

  private static func layout(
    of archive: TileArchive, _ options: ExportOptions
  ) throws(StorageError) -> (any StaticLayout, TileFormat) {
    let isZoomify = options.layout == .zoomify
    let format = isZoomify ? .jpeg : options.format ?? archive.format
    let stored = archive.pyramid
    let isDeepZoom = options.layout == .deepZoom
    guard
      let pyramid = Pyramid(
        imageSize: stored.imageSize, tileSize: options.tileSize ?? (isZoomify ? 256 : stored.tileSize),
        overlap: isDeepZoom ? options.overlap ?? stored.overlap : 0)
    else { throw StorageError("export \(archive.name)", "the overlap has to be smaller than the tile size") }
    let name = archive.name
    let layout: any StaticLayout =
      switch options.layout {
      case .zoomify: ZoomifyLayout(pyramid: pyramid)
      case .xyz:
        XYZLayout(
          pyramid: pyramid, name: name, format: format, baseURL: options.baseURL,
          background: options.background)
      case .iiif3:
        IIIFLayout(
          pyramid: pyramid, format: format, id: options.baseURL ?? "https://example.com/iiif/\(name)",
          scale: PhysicalDimensions(archive))
      case .deepZoom: DeepZoomLayout(pyramid: pyramid, name: name, format: format)
      }
    return (layout, format)
  }

  /// Whether an export of the archive has, or may have, a file or folder of this name directly in its folder.
  package static func isName(
    _ name: String, inExportOf archive: TileArchive, _ options: ExportOptions
  ) -> Bool {
    // If an archive cannot be exported, its export reports the error.
    (try? layout(of: archive, options))?.0.holds(name) ?? false
  }

  /// Writes the folder, which appears at `destination` when it is complete.
  /// - Parameter root: a folder above `destination`, created if missing, that links must not lead out of. Nil if the
  ///   user named `destination` itself.
  package func export(to destination: String, within root: String? = nil) throws(StorageError) -> Report {
    if let root {
      try FolderTree.make(root)
      let enclosure = try RootDirectory(root)
      try enclosure.make(parentFolder(destination))
      if let place = realpath(destination, nil) {
        defer { free(place) }
        guard enclosure.holds(path: String(cString: place)) else {
          throw StorageError("write \(destination)", "a link leads out of \(root)")
        }
      }
    } else {
      try FolderTree.make(parentFolder(destination))
    }
    if options.replaces { try Self.requireExport(at: destination) }
    let folder = try AtomicFolder(destination: destination, replacing: options.replaces)
    do throws(StorageError) {
      for document in layout.documents { try folder.write(document.name, Array(document.text.utf8)) }
      var report = Report()
      for level in layout.firstLevel..<layout.pyramid.levelCount { try write(level, into: folder, &report) }
      try folder.publish()
      return report
    } catch {
      folder.abandon()
      throw error
    }
  }

  /// Throws unless a destination is free, an empty folder or an export.
  private static func requireExport(at destination: String) throws(StorageError) {
    var status = stat()
    guard stat(destination, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw StorageError(
        "write \(destination)", "it is a file, and --force replaces only folders that an export wrote")
    }
    if let archive = try? FolderTree.archives(at: destination).first {
      throw StorageError("write \(destination)", "an archive is in it: \(archive)")
    }
    if let file = ExportedFolder.foreignFile(in: destination) {
      throw StorageError(
        "write \(destination)",
        "--force replaces only folders that an export wrote, and no export wrote \(file)")
    }
  }

  /// A level's rows of tiles: their distribution to threads, the threads' counts, and the first error.
  private final class Rows: Sendable {
    private let next = Atomic(0)
    private let count: Int
    let state: Mutex<(report: Report, failure: StorageError?)>

    init(_ count: Int, _ report: Report) {
      self.count = count
      state = Mutex((report, nil))
    }

    func take() -> Int? {
      guard state.withLock({ $0.failure == nil }) else { return nil }
      let row = next.add(1, ordering: .relaxed).oldValue
      return row < count ? row : nil
    }
  }

  private func write(_ level: Int, into folder: AtomicFolder, _ report: inout Report) throws(StorageError) {
    let count = layout.rows(ofLevel: level)
    let rows = Rows(count, report)
    StartedThread.several(min(count, threads)) { _ in
      while let row = rows.take() { write(row, ofLevel: level, into: folder, rows) }
    }
    let (sum, failure) = rows.state.withLock { $0 }
    if let failure { throw failure }
    report = sum
  }

  private func write(_ row: Int, ofLevel level: Int, into folder: AtomicFolder, _ rows: Rows) {
    var part = Report()
    do throws(StorageError) {
      if isCancelled() { throw StorageError("export \(archive.name)", "interrupted") }
      for column in 0..<layout.columns(ofLevel: level) {
        try write(TileAddress(level: level, column: column, row: row), into: folder, &part)
      }
    } catch {
      rows.state.withLock { $0.failure = $0.failure ?? error }
    }
    rows.state.withLock { state in
      state.report.copied += part.copied
      state.report.encoded += part.encoded
      state.report.byteCount += part.byteCount
    }
  }

  private func write(
    _ tile: TileAddress, into folder: AtomicFolder, _ report: inout Report
  ) throws(StorageError) {
    let names = layout.names(of: tile)
    guard !names.isEmpty else { return }
    if let stored = try stored(tile) {
      for name in names { try folder.write(name, stored) }
      report.copied += 1
      report.byteCount += stored.count * names.count
    } else {
      let bytes = try encoded(tile)
      for name in names { try folder.write(name, bytes) }
      report.encoded += 1
      report.byteCount += bytes.count * names.count
    }
  }

  /// Returns the archive's own bytes if they are the layout's tile.
  private func stored(_ tile: TileAddress) throws(StorageError) -> UnsafeRawBufferPointer? {
    guard format == archive.format, let place = layout.rectangle(of: tile),
      // Also true if neither grid nor overlap is the same, but one tile is the whole level.
      place == archive.pyramid.rectangle(of: tile), !layout.padsEdges || isFull(place)
    else { return nil }
    func error(_ what: String, _ kind: StorageError.Kind) -> StorageError {
      let name = "tile \(tile.level)/\(tile.column)_\(tile.row)"
      return StorageError("export \(archive.name)", "\(name) \(what)", kind: kind)
    }
    guard let index = archive.tileIndex(level: tile.level, column: tile.column, row: tile.row) else {
      throw error("is outside the pyramid", .unreadable)
    }
    switch archive.waitForTile(index) {
    case .here(let bytes, _) where !bytes.isEmpty: return bytes
    // The program that made the archive omitted it, but all layouts contain it.
    case .notFound: return nil
    case .pending, .unreachable: throw error("is not available at present", .unreachable)
    case .here, .unreadable: throw error("cannot be read", .unreadable)
    }
  }

  private func encoded(_ tile: TileAddress) throws(StorageError) -> [UInt8] {
    let place = layout.rectangle(of: tile)!
    let side = layout.pyramid.tileSize
    let size =
      layout.padsEdges
      ? PixelSize(width: side, height: side)! : PixelSize(width: place.width, height: place.height)!
    let isWhole = size.width == place.width && size.height == place.height
    let picture = PictureFormat(format)
    // One of the archive's tiles may contain the very file.
    let task: RenderTask =
      isWhole && place == archive.pyramid.rectangle(of: tile)
      ? .tile(tile, picture) : .crop(place, level: tile.level, paddedTo: size, picture)
    do throws(RenderError) {
      return try renderer.render(task, of: archive)
    } catch {
      throw StorageError(
        "export \(archive.name)", error.description, kind: error.isTemporary ? .unreachable : .unreadable)
    }
  }

  private func isFull(_ place: PixelRect) -> Bool {
    place.width == layout.pyramid.tileSize && place.height == layout.pyramid.tileSize
  }
}
