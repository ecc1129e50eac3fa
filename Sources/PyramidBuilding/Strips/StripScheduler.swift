import Glibc
import TileGeometry
import TileStorage
import ZigguratConcurrency
import ZigguratFiles

/// Builds a pyramid from streamed rows. Strips of tile height are decoded, and several threads encode tiles and shrink
/// them into their parents. A parent is encoded as soon as it is complete.
///
/// The first thread decodes; when enough tiles wait, it helps to encode. No object, lock or queue entry is made per
/// tile of full resolution.
final class StripScheduler: @unchecked Sendable {
  // Sendable: every mutable property is touched under `monitor` only, but for a tile's pixels and encoded
  // bytes, which are touched by the thread that has taken the tile.
  private let monitor = ConditionLock()
  private let source: any StripSource
  private let writer: any ArchiveWriter
  private let options: BuildOptions
  /// The ICC profile in every tile; nil if there is none.
  private let profile: [UInt8]?
  private let pyramid: Pyramid
  private let levels: [StripLevel]
  private var stock: StripPool
  /// Decoded strips of full resolution with tiles that have not been taken.
  private var readyStrips: [Strip] = []
  /// Tiles of the other levels into which all their children are shrunk.
  private var readyTiles: [Tile] = []
  /// The tiles of full resolution that are not done.
  private var topTilesInFlight = 0
  /// The strip of a parallel source that is being decoded, and the row of the next one.
  private var decoding: Strip?
  private var nextTopRow = 0
  private var unfinishedStrips: Int
  /// By level.
  private var rowsFinished: [Int]
  private var failure: BuildError?
  private var threads = 1
  private var assistants = 0
  private var isClosed = false
  private var queue: StripQueue
  private var isWriting = false
  private let isCancelled: @Sendable () -> Bool
  /// Encodes tiles in place of the encoder of the tiles' format.
  private let encoder: (any TileEncoder)?
  /// Called with how much of the picture is done, 0 to 1, after each strip; it neither waits nor calls back.
  private let onProgress: (@Sendable (Double) -> Void)?

  /// Tiles taken at a time.
  private static let batch = 4

  private struct Tile {
    let strip: Strip
    let column: Int
  }

  init(
    source: any StripSource, pyramid: Pyramid, options: BuildOptions, profile: [UInt8]?,
    writer: any ArchiveWriter, encoder: (any TileEncoder)?, isCancelled: @escaping @Sendable () -> Bool,
    onProgress: (@Sendable (Double) -> Void)?
  ) {
    self.source = source
    self.pyramid = pyramid
    self.options = options
    self.profile = profile
    self.writer = writer
    self.encoder = encoder
    self.isCancelled = isCancelled
    self.onProgress = onProgress
    levels = (0..<pyramid.levelCount).map { StripLevel(pyramid, shift: $0, layout: source.layout) }
    stock = StripPool(levels, source)
    unfinishedStrips = levels.reduce(0) { $0 + $1.rows }
    rowsFinished = levels.map { _ in 0 }
    queue = StripQueue(rows: levels.map(\.rows))
  }

  deinit { queue.deallocate() }

  /// Appends every tile of the pyramid to the writer, with `threads` threads and all that `assist`.
  func run(threads: Int) throws(BuildError) {
    monitor.lock()
    self.threads = threads
    monitor.unlock()
    StartedThread.several(threads) { self.take(part: $0) }
    monitor.lock()
    defer { monitor.unlock() }
    // The archive is closed after this, so no thread may still write to it.
    isClosed = true
    while assistants > 0 { monitor.wait() }
    if let failure { throw failure }
  }

  var pixelCount: Double { Double(pyramid.imageSize.width) * Double(pyramid.imageSize.height) }

  /// The fraction of the picture that is done, 0 to 1.
  var progress: Double {
    monitor.lock()
    defer { monitor.unlock() }
    return fractionDone
  }

  /// The same, under the lock.
  private var fractionDone: Double {
    let total = levels.reduce(0.0) { $0 + Double($1.rows * $1.columns) }
    let finished = rowsFinished.enumerated().reduce(0.0) {
      $0 + Double($1.element * levels[$1.offset].columns)
    }
    return finished / total
  }

  /// Helps with the remaining work, on the caller's thread; returns when there is none.
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
      let worker = try TileWorker(source, options, encoder, profile: profile, decodes: decodes)
      if !source.isParallel, part == 0 { try decodeInOrder(worker) }
      try work(worker)
    } catch {
      monitor.lock()
      failure = failure ?? error
      monitor.wakeAll()
      monitor.unlock()
    }
  }

  /// Reads a source that one thread reads from top to bottom.
  private func decodeInOrder(_ worker: TileWorker) throws(BuildError) {
    monitor.lock()
    defer { monitor.unlock() }
    for row in 0..<levels[0].rows {
      if isCancelled() { throw .interrupted }
      while failure == nil, !mayDecode {
        if try !encodeOnce(worker) { monitor.wait() }
      }
      if failure != nil { return }
      let strip = takeTop(row: row)
      try unlocked { () throws(BuildError) in try worker.decoder!.decode(piece: 0, into: strip) }
      readyStrips.append(strip)
      monitor.wakeAll()
    }
  }

  /// Whether there is room for another strip of full resolution.
  private var mayDecode: Bool {
    topTilesInFlight == 0
      || topTilesInFlight
        <= StripLimit.tilesAhead(
          levels[0], options.coding, threads: threads + assistants, isParallel: source.isParallel)
  }

  private func work(_ worker: TileWorker) throws(BuildError) {
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
  private func decodeOnce(_ worker: TileWorker) throws(BuildError) -> Bool {
    if decoding == nil {
      guard nextTopRow < levels[0].rows, mayDecode else { return false }
      decoding = takeTop(row: nextTopRow)
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
      readyStrips.append(strip)
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

  /// Encodes one batch of tiles; returns false if there is none. Called, and returns, with the lock held.
  private func encodeOnce(_ worker: TileWorker) throws(BuildError) -> Bool {
    guard let (strip, tiles) = takeTiles() else { return false }
    let parent = stock.parent(of: strip, tiles)
    try unlocked { () throws(BuildError) in
      for column in tiles { try worker.process(column, of: strip, into: parent) }
    }
    for column in tiles {
      stock.withdraw(tile: column, of: strip)
      if let parent, parent.countChild(column) { readyTiles.append(Tile(strip: parent, column: column / 2)) }
    }
    if strip.shift == 0 { topTilesInFlight -= tiles.count }
    strip.doneTiles += tiles.count
    monitor.wakeAll()
    if strip.doneTiles == strip.columns { try finish(strip) }
    return true
  }

  /// Returns the tiles to encode next. Tiles that were completed last come first: they are still in a cache, and are
  /// the first to release their memory. Under the lock.
  private func takeTiles() -> (Strip, Range<Int>)? {
    if let tile = readyTiles.popLast() { return (tile.strip, tile.column..<tile.column + 1) }
    guard let strip = readyStrips.first else { return nil }
    let first = strip.nextTile
    strip.nextTile = min(first + Self.batch, strip.columns)
    if strip.nextTile == strip.columns { readyStrips.removeFirst() }
    return (strip, first..<strip.nextTile)
  }

  /// A strip of full resolution to decode into. Under the lock.
  private func takeTop(row: Int) -> Strip {
    let strip = stock.takeTop(row: row)
    topTilesInFlight += strip.columns
    return strip
  }

  /// Puts a done strip in line for the archive, and writes all whose turn has come. Under the lock.
  private func finish(_ strip: Strip) throws(BuildError) {
    queue.append(strip.takeEncoded(), shift: strip.shift, row: strip.row)
    stock.withdraw(strip)
    unfinishedStrips -= 1
    rowsFinished[strip.shift] += 1
    if let onProgress { onProgress(fractionDone) }
    monitor.wakeAll()
    guard !isWriting else { return }
    isWriting = true
    while failure == nil, let (tiles, shift, row) = queue.next() {
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
