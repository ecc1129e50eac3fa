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
  private let source: any StripSource
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
  /// Of a parallel source: the strip that is being decoded, and the next.
  private var decoding: Strip?
  private var nextTopRow = 0
  private var unfinishedStrips: Int
  /// By level.
  private var rowsFinished: [Int]
  private var failure: BuildError?
  private var assistants = 0
  private var isClosed = false
  /// Finished strips whose turn to be written has not come.
  private var finished: [Key: [EncodedTile]] = [:]
  private var order: StripOrder
  private var isWriting = false
  private let isCancelled: @Sendable () -> Bool

  /// Strips of the finest level that may wait decoded: enough for no thread to idle.
  private static let topStripLimit = 2
  /// Tiles taken at a time.
  private static let batch = 4

  private struct Key: Hashable {
    let shift: Int
    let row: Int
  }

  init(
    source: any StripSource, pyramid: Pyramid, options: BuildOptions, writer: SZIWriter,
    isCancelled: @escaping @Sendable () -> Bool
  ) {
    self.source = source
    self.pyramid = pyramid
    self.options = options
    self.writer = writer
    self.isCancelled = isCancelled
    levels = (0..<pyramid.levelCount).map { StripLevel(pyramid, shift: $0, layout: source.layout) }
    ready = levels.map { _ in [] }
    filling = ready
    free = ready
    unfinishedStrips = levels.reduce(0) { $0 + $1.rows }
    rowsFinished = levels.map { _ in 0 }
    order = StripOrder(rows: levels.map(\.rows))
  }

  deinit {
    for tile in finished.values.joined() { tile.bytes.deallocate() }
  }

  /// Appends every tile of the pyramid to the writer, with `threads` threads and all that `assist`.
  func run(threads: Int) throws(BuildError) {
    withThreads(threads) { self.take(part: $0) }
    monitor.lock()
    defer { monitor.unlock() }
    // The archive is closed after this, so nobody may still write into it.
    isClosed = true
    while assistants > 0 { monitor.wait() }
    if let failure { throw failure }
  }

  /// How much of the picture is done, 0 to 1.
  var progress: Double {
    monitor.lock()
    defer { monitor.unlock() }
    let total = levels.reduce(0.0) { $0 + Double($1.rows * $1.columns) }
    let finished = rowsFinished.enumerated().reduce(0.0) {
      $0 + Double($1.element * levels[$1.offset].columns)
    }
    return finished / total
  }

  /// Helps with the work that is left, on the caller's thread; returns when there is none.
  func assist() {
    monitor.lock()
    if isClosed { return monitor.unlock() }
    assistants += 1
    monitor.unlock()
    take(part: 1)
    monitor.lock()
    assistants -= 1
    monitor.wakeAll()
    monitor.unlock()
  }

  /// - Parameter part: 0 is the thread that reads a source which only one can read.
  private func take(part: Int) {
    do throws(BuildError) {
      let decodes = source.isParallel || part == 0
      let worker = Worker(
        encoder: try options.encoder(source.layout), readyTiles: try source.makeReadyTiles(),
        decoder: decodes ? try source.makeDecoder() : nil)
      if !source.isParallel, part == 0 { try decodeInOrder(worker) }
      try work(worker)
    } catch {
      monitor.lock()
      failure = failure ?? error
      monitor.wakeAll()
      monitor.unlock()
    }
  }

  /// What one thread works with.
  private struct Worker {
    let encoder: any TileEncoding
    let readyTiles: (any ReadyTiles)?
    let decoder: (any StripDecoding)?
  }

  /// Reads a source that one thread reads from top to bottom.
  private func decodeInOrder(_ worker: Worker) throws(BuildError) {
    monitor.lock()
    defer { monitor.unlock() }
    for row in 0..<levels[0].rows {
      if isCancelled() { throw .interrupted }
      while failure == nil, topStripsInFlight >= Self.topStripLimit {
        if try !encodeOnce(worker) { monitor.wait() }
      }
      if failure != nil { return }
      topStripsInFlight += 1
      let strip = take(0, row: row)
      try unlocked { () throws(BuildError) in try worker.decoder!.decode(piece: 0, into: strip) }
      ready[0].append(strip)
      monitor.wakeAll()
    }
  }

  private func work(_ worker: Worker) throws(BuildError) {
    monitor.lock()
    defer { monitor.unlock() }
    while failure == nil, unfinishedStrips > 0 || isWriting {
      if isCancelled() { throw .interrupted }
      if try encodeOnce(worker) { continue }
      if source.isParallel, try decodeOnce(worker) { continue }
      monitor.wait()
    }
  }

  /// Decodes one piece of a source whose pieces can be decoded side by side; false where none is to be
  /// had. Called and returning under the lock.
  private func decodeOnce(_ worker: Worker) throws(BuildError) -> Bool {
    if decoding == nil {
      guard nextTopRow < levels[0].rows, topStripsInFlight < Self.topStripLimit else { return false }
      topStripsInFlight += 1
      decoding = take(0, row: nextTopRow)
      nextTopRow += 1
    }
    let strip = decoding!
    let pieces = source.pieceCount(ofRow: strip.row)
    let piece = strip.nextPiece
    strip.nextPiece += 1
    if strip.nextPiece == pieces { decoding = nil }
    try unlocked { () throws(BuildError) in try worker.decoder!.decode(piece: piece, into: strip) }
    strip.donePieces += 1
    if strip.donePieces == pieces {
      ready[0].append(strip)
      monitor.wakeAll()
    }
    return true
  }

  /// Runs `body` without the lock.
  private func unlocked(_ body: () throws(BuildError) -> Void) throws(BuildError) {
    monitor.unlock()
    defer { monitor.lock() }
    try body()
  }

  /// Does one batch of tiles; false where there is none to do. Called and returning under the lock.
  private func encodeOnce(_ worker: Worker) throws(BuildError) -> Bool {
    guard let strip = ready.last(where: { !$0.isEmpty })?.first else { return false }
    let first = strip.nextTile
    let end = min(first + Self.batch, strip.columns)
    strip.nextTile = end
    if end == strip.columns { ready[strip.shift].removeFirst() }
    let parent = strip.shift + 1 < levels.count ? parent(of: strip) : nil
    try unlocked { () throws(BuildError) in
      for column in first..<end { try process(strip, column, into: parent, worker) }
    }
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
    _ strip: Strip, _ column: Int, into parent: Strip?, _ worker: Worker
  ) throws(BuildError) {
    var bytes: UnsafeRawBufferPointer?
    let tile: TilePixels
    if strip.shift == 0, let readyTiles = worker.readyTiles {
      (bytes, tile) = try readyTiles.tile(column, of: strip, width: strip.width(ofTile: column))
    } else {
      tile = strip.pixels(ofTile: column)
    }
    tile.repeatOddEdges()
    let encoded = if let bytes { bytes } else { try worker.encoder.encode(tile) }
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: encoded.count, alignment: 16)
    copy.copyMemory(from: encoded)
    strip.put(
      EncodedTile(bytes: UnsafeRawBufferPointer(copy), crc: checksum(UnsafeRawBufferPointer(copy))),
      column: column)
    guard let parent else { return }
    BoxShrink.halve(
      tile, into: parent.quarter(ofChildTile: column, row: strip.row), hasAlpha: source.hasAlpha)
  }

  /// A strip for row `row`, with memory that is used again. Under the lock.
  private func take(_ shift: Int, row: Int) -> Strip {
    let strip =
      free[shift].popLast()
      ?? Strip(levels[shift], coefficientCount: shift == 0 ? source.coefficientsPerStrip : 0)
    strip.begin(row: row)
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
    rowsFinished[strip.shift] += 1
    monitor.wakeAll()
    guard !isWriting else { return }
    isWriting = true
    while failure == nil, let tiles = finished.removeValue(forKey: Key(shift: order.shift, row: order.row)) {
      let (shift, row) = (order.shift, order.row)
      order.advance()
      try unlocked { () throws(BuildError) in try write(tiles, shift, row) }
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
