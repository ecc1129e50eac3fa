import Glibc
import TileGeometry
import TileStorage

/// Builds one pyramid from rows that stream in: one strip of tile height per level in flight, tiles
/// encoded and shrunk into their parent's strip by several threads, coarse levels first.
///
/// The first thread decodes; when enough strips wait it helps to encode. No object, lock or queue
/// entry is made per tile.
final class StripScheduler: @unchecked Sendable {
  // Sendable: every mutable property is touched under `monitor` only, but for a strip's pixels and
  // encoded tiles, of which each thread touches those of the tiles it has taken.
  private let monitor = Monitor()
  private let source: any PixelSource
  private let writer: SZIWriter
  private let options: BuildOptions
  private let pyramid: Pyramid
  private let levels: [StripLevel]
  /// Strips that can be worked on, by level, oldest first.
  private var ready: [[Strip]]
  /// Strips that still fill from the finer level.
  private var filling: [[Strip]]
  private var free: [[Strip]]
  private var topStripsInFlight = 0
  private var unfinishedStrips: Int
  private var failure: BuildError?
  /// Finished strips whose turn to be written has not come.
  private var finished: [Key: [EncodedTile]] = [:]
  private var order: StripOrder
  private var isWriting = false
  private let isCancelled: @Sendable () -> Bool

  /// Strips of the finest level that may wait decoded: enough for no thread to idle.
  private static let topStripLimit = 3
  /// Tiles taken at a time.
  private static let batch = 4

  private struct Key: Hashable {
    let shift: Int
    let row: Int
  }

  init(
    source: any PixelSource, pyramid: Pyramid, options: BuildOptions, writer: SZIWriter,
    isCancelled: @escaping @Sendable () -> Bool
  ) {
    self.source = source
    self.pyramid = pyramid
    self.options = options
    self.writer = writer
    self.isCancelled = isCancelled
    levels = (0..<pyramid.levelCount).map { StripLevel(pyramid, shift: $0, bands: source.bands) }
    ready = levels.map { _ in [] }
    filling = ready
    free = ready
    unfinishedStrips = levels.reduce(0) { $0 + $1.rows }
    order = StripOrder(rows: levels.map(\.rows))
  }

  deinit {
    for tiles in finished.values { tiles.forEach { $0.bytes.deallocate() } }
  }

  /// Appends every tile of the pyramid to the writer.
  func run(threads: Int) throws(BuildError) {
    withThreads(threads) { number in
      do throws(BuildError) {
        let encoder = try self.options.encoder(bands: self.source.bands)
        if number == 0 { try self.decode(with: encoder) }
        try self.work(with: encoder)
      } catch {
        self.fail(error)
      }
    }
    if let failure { throw failure }
  }

  private func fail(_ error: BuildError) {
    monitor.lock()
    failure = failure ?? error
    monitor.wakeAll()
    monitor.unlock()
  }

  /// Reads the source strip by strip.
  private func decode(with encoder: any TileEncoding) throws(BuildError) {
    for row in 0..<levels[0].rows {
      if isCancelled() { throw .interrupted }
      monitor.lock()
      while failure == nil, topStripsInFlight >= Self.topStripLimit {
        do throws(BuildError) {
          if try !workOnce(with: encoder) { monitor.wait() }
        } catch {
          monitor.unlock()
          throw error
        }
      }
      if failure != nil { return monitor.unlock() }
      topStripsInFlight += 1
      let strip = take(0, row: row)
      monitor.unlock()
      try source.read(
        rows: strip.height, from: row * levels[0].tileSize, to: strip.pixels, stride: strip.stride)
      monitor.lock()
      ready[0].append(strip)
      monitor.wakeAll()
      monitor.unlock()
    }
  }

  private func work(with encoder: any TileEncoding) throws(BuildError) {
    monitor.lock()
    defer { monitor.unlock() }
    while failure == nil, unfinishedStrips > 0 || isWriting {
      if try !workOnce(with: encoder) { monitor.wait() }
    }
  }

  /// Does one batch of tiles; false where there is none to do. Called and returning under the lock.
  private func workOnce(with encoder: any TileEncoding) throws(BuildError) -> Bool {
    guard let strip = ready.last(where: { !$0.isEmpty })?.first else { return false }
    let first = strip.nextTile
    let end = min(first + Self.batch, strip.columns)
    strip.nextTile = end
    if end == strip.columns { ready[strip.shift].removeFirst() }
    let parent = strip.shift + 1 < levels.count ? parent(of: strip) : nil
    monitor.unlock()
    let result = Result { () throws(BuildError) in
      for column in first..<end { try process(strip, column, into: parent, with: encoder) }
    }
    monitor.lock()
    try result.get()
    strip.doneTiles += end - first
    if let parent {
      parent.missingChildren -= end - first
      if parent.missingChildren == 0 {
        filling[parent.shift].removeAll { $0 === parent }
        ready[parent.shift].append(parent)
        monitor.wakeAll()
      }
    }
    if strip.doneTiles == strip.columns { try finish(strip) }
    return true
  }

  /// Encodes a tile, and shrinks it into its parent while it is in the cache.
  private func process(
    _ strip: Strip, _ column: Int, into parent: Strip?, with encoder: any TileEncoding
  ) throws(BuildError) {
    let level = levels[strip.shift]
    let (bands, tileSize) = (level.bands, level.tileSize)
    let width = min(tileSize, level.width - column * tileSize)
    let height = strip.height
    let pixels = strip.pixels + column * tileSize * bands
    let bytes = try encoder.encode(pixels, width: width, height: height, stride: strip.stride)
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    copy.copyMemory(from: bytes)
    let tile = EncodedTile(
      bytes: UnsafeRawBufferPointer(copy), crc: checksum(UnsafeRawBufferPointer(copy)))
    strip.put(tile, column: column)
    guard let parent else { return }
    repeatOddEdges(pixels, strip.stride, width, height, bands)
    let half = tileSize / 2
    BoxShrink.halve(
      pixels, strip.stride,
      into: parent.pixels + (strip.row % 2) * half * parent.stride + column * half * bands, parent.stride,
      width: (width + 1) / 2, height: (height + 1) / 2, bands: bands, hasAlpha: source.hasAlpha)
  }

  /// An odd last column or row is shrunk with a copy of itself, as `vips dzsave` does.
  private func repeatOddEdges(
    _ pixels: UnsafeMutablePointer<UInt8>, _ stride: Int, _ width: Int, _ height: Int, _ bands: Int
  ) {
    if width % 2 == 1 {
      for y in 0..<height {
        let end = pixels + y * stride + width * bands
        end.update(from: end - bands, count: bands)
      }
    }
    if height % 2 == 1 {
      let end = pixels + height * stride
      end.update(from: end - stride, count: (width + width % 2) * bands)
    }
  }

  /// A strip for row `row`, with memory that is used again. Under the lock.
  private func take(_ shift: Int, row: Int) -> Strip {
    let strip = free[shift].popLast() ?? Strip(levels[shift])
    strip.begin(row: row, levels[shift])
    return strip
  }

  /// The strip that `strip` is shrunk into. Under the lock.
  private func parent(of strip: Strip) -> Strip {
    let (shift, row) = (strip.shift + 1, strip.row / 2)
    if let parent = filling[shift].first(where: { $0.row == row }) { return parent }
    let parent = take(shift, row: row)
    filling[shift].append(parent)
    return parent
  }

  /// Puts a done strip in line for the archive, and writes all whose turn has come. Under the lock.
  private func finish(_ strip: Strip) throws(BuildError) {
    finished[Key(shift: strip.shift, row: strip.row)] = strip.takeEncoded()
    free[strip.shift].append(strip)
    if strip.shift == 0 { topStripsInFlight -= 1 }
    unfinishedStrips -= 1
    monitor.wakeAll()
    guard !isWriting else { return }
    isWriting = true
    while failure == nil, let tiles = finished.removeValue(forKey: Key(shift: order.shift, row: order.row)) {
      let (shift, row) = (order.shift, order.row)
      order.advance()
      monitor.unlock()
      let result = Result { () throws(BuildError) in try write(tiles, shift, row) }
      monitor.lock()
      try result.get()
    }
    isWriting = false
    monitor.wakeAll()
  }

  private func write(_ tiles: [EncodedTile], _ shift: Int, _ row: Int) throws(BuildError) {
    defer { for tile in tiles { tile.bytes.deallocate() } }
    let level = pyramid.topLevel - shift
    let first = pyramid.index(of: TileAddress(level: level, column: 0, row: row))!
    for (column, tile) in tiles.enumerated() {
      do throws(StorageError) {
        try writer.append(tile: first + column, tile.bytes, crc: tile.crc)
      } catch { throw BuildError("tile", error) }
    }
  }
}

extension BuildError {
  static let interrupted = BuildError("build", "interrupted")
}
