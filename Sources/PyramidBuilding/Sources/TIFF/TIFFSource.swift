import TileStorage
import ZigguratCTurboJPEG
import ZigguratImaging

/// A TIFF file whose tiles or strips are decoded in parallel.
final class TIFFSource: StripSource {
  /// The form in which the file's data become tiles.
  enum Path: Hashable {
    /// Gray or RGB, as in `vips dzsave`.
    case rows
    /// Y, Cb, Cr of 4:2:0 as stored.
    case planes
    /// The file's JPEG tiles are copied at full resolution. Coarser levels are made from their pixels.
    case copies
    /// Tiles of full resolution are cut from the coefficients of the file's JPEG tiles.
    case coefficients(JPEGHeader.MCU)
  }

  let file: TIFFFile
  let layout: PixelLayout
  let path: Path
  var steps: [String] { file.notes }
  /// Whether an output tile is one tile of the file, or filled by several.
  private let isAligned: Bool
  private let tileSize: Int
  private let unitsPerPiece: Int

  /// Pixels to decode before the scheduler's lock is taken again.
  private static let pieceSize = 1 << 16

  /// - Parameters:
  ///   - path: a path that the file allows; see `TIFFAbility` and `TIFFTileSurvey`.
  ///   - keepsPlanes: whether the file's chroma is 4:2:0, for a path other than `rows`.
  init(_ file: TIFFFile, _ path: Path, tileSize: Int, keepsPlanes: Bool = true) {
    self.file = file
    self.path = path
    self.tileSize = tileSize
    let isGray = file.bands == 1
    layout =
      path == .rows || isGray || !keepsPlanes
      ? .interleaved(PixelBands(isGray: isGray, hasAlpha: false)) : .planar420
    isAligned = file.isTiled && tileSize % file.chunkWidth == 0 && tileSize % file.chunkHeight == 0
    unitsPerPiece = max(1, Self.pieceSize / (file.chunkWidth * file.chunkHeight))
  }

  var truncation: SourceDamage? { file.log.truncation }

  func finish() throws(BuildError) -> SourceDamage? {
    let damage = file.log.worst
    if let damage, file.log.lostParts() >= file.columns * file.rows - file.tags.missingCount {
      throw BuildError(file.path, damage.reason)
    }
    return damage
  }

  var width: Int { file.width }
  var height: Int { file.height }

  /// Aligned tiles are decoded immediately before they are encoded, while they are in the cache. Other tiles that are
  /// cut from coefficients need those of the whole strip decoded first.
  var hasReadyTiles: Bool { isAligned || mcu != nil }
  var isParallel: Bool { !isAligned }

  /// The memory in bytes: a unit with its compressed data for each of a few threads.
  var memory: Int { 8 * file.chunkWidth * file.chunkHeight * file.bands + (4 << 20) }

  /// The MCU of the coefficients to cut; nil if none are cut.
  private var mcu: JPEGHeader.MCU? {
    if case .coefficients(let mcu) = path { mcu } else { nil }
  }

  /// Blocks in a row of MCUs of a strip, which contains the file's tiles in their full width.
  var blockStride: Int { mcu.map { file.columns * file.chunkWidth / $0.width * $0.blocks } ?? 0 }

  var coefficientsPerStrip: Int {
    mcu.map { isAligned ? 0 : blockStride * 64 * (tileSize / $0.height) } ?? 0
  }

  /// Returns the units that a row of tiles overlaps.
  func units(ofRow row: Int) -> Range<Int> {
    let (top, bottom) = (row * tileSize, min((row + 1) * tileSize, height))
    return top / file.chunkHeight * file.columns..<(bottom + file.chunkHeight - 1) / file.chunkHeight
      * file.columns
  }

  func pieceCount(ofRow row: Int) -> Int {
    isAligned ? 1 : (units(ofRow: row).count + unitsPerPiece - 1) / unitsPerPiece
  }

  func makeDecoder() throws(BuildError) -> any StripDecoding {
    if let mcu, !isAligned { return try TIFFCoefficientDecoder(self, mcu) }
    return try TIFFStripDecoder(self)
  }

  func makeReadyTiles() throws(BuildError) -> (any ReadyTiles)? {
    if let mcu { return try TIFFCoefficientTiles(self, mcu, tileSize: tileSize, isAligned: isAligned) }
    return isAligned ? try TIFFTiles(self, tileSize: tileSize) : nil
  }

  func units(ofPiece piece: Int, row: Int) -> Range<Int> {
    let all = units(ofRow: row)
    let first = all.lowerBound + piece * unitsPerPiece
    return first..<min(first + unitsPerPiece, all.upperBound)
  }
}

/// Decodes TIFF tiles or strips into rows of output tiles.
private final class TIFFStripDecoder: StripDecoding {
  private let source: TIFFSource
  private let reader: TIFFChunkReader
  /// Memory for units that are partly outside of a row of tiles, or extend far over the edge.
  private lazy var aside = PlaneBuffer(
    source.layout, width: source.file.chunkWidth + 2, height: source.file.chunkHeight + 2)

  init(_ source: TIFFSource) throws(BuildError) {
    self.source = source
    reader = try TIFFChunkReader(source.file)
  }

  func decode(piece: Int, into strip: Strip) throws(BuildError) {
    if source.hasReadyTiles { return }
    for unit in source.units(ofPiece: piece, row: strip.row) { try decode(unit, into: strip) }
  }

  private func decode(_ unit: Int, into strip: Strip) throws(BuildError) {
    let file = source.file
    let x = unit % file.columns * file.chunkWidth
    let top = unit / file.columns * file.chunkHeight - strip.row * strip.tileSize
    try reader.decode(unit, source.layout, to: aside.planes)
    let first = max(0, -top)
    let count = min(file.tags.rows(ofUnit: unit), strip.height - top) - first
    strip.put(
      aside.planes, rows: first..<first + count, width: min(file.chunkWidth, file.width - x), x: x,
      y: max(top, 0))
  }
}

/// Decodes or copies the file's tiles that make up an output tile.
private final class TIFFTiles: ReadyTiles {
  private let source: TIFFSource
  private let reader: TIFFChunkReader
  private let buffer: PlaneBuffer
  /// The cutter for the edges of copied tiles; nil if the file's first tile cannot be cut.
  private lazy var cutter = TIFFUnitCutter(source.file)

  init(_ source: TIFFSource, tileSize: Int) throws(BuildError) {
    self.source = source
    reader = try TIFFChunkReader(source.file)
    buffer = PlaneBuffer(source.layout, width: tileSize, height: tileSize)
  }

  func tile(_ column: Int, of strip: Strip, width: Int) throws(BuildError) -> (
    bytes: UnsafeRawBufferPointer?, pixels: TilePixels
  ) {
    let file = source.file
    let tile = buffer.pixels(width: width, height: strip.height)
    if source.path == .copies { return try copy(strip.row * file.columns + column, of: strip, tile) }
    let top = strip.row * strip.tileSize / file.chunkHeight
    let left = column * strip.tileSize / file.chunkWidth
    for y in 0..<(strip.height + file.chunkHeight - 1) / file.chunkHeight {
      for x in 0..<(width + file.chunkWidth - 1) / file.chunkWidth {
        let unit = (top + y) * file.columns + left + x
        let planes = tile.planes.from(column: x * file.chunkWidth, row: y * file.chunkHeight, tile.layout)
        try reader.decode(unit, source.layout, to: planes)
      }
    }
    return (nil, tile)
  }

  private func copy(
    _ unit: Int, of strip: Strip, _ tile: TilePixels
  ) throws(BuildError) -> (bytes: UnsafeRawBufferPointer?, pixels: TilePixels) {
    if reader.isMissing(unit) {
      try reader.decode(unit, source.layout, to: tile.planes)
      return (nil, tile)
    }
    let soundness: TIFFChunkReader.Soundness
    let bytes: UnsafeRawBufferPointer
    do throws(BuildError) {
      (soundness, bytes) =
        source.layout == .planar420
        ? try reader.decodePlanes(unit, to: tile.planes)
        : try reader.decodeJPEG(unit, to: tile[0].base, stride: tile[0].stride)
    } catch {
      try reader.lose(unit, source.layout, tile.planes, error)
      return (nil, tile)
    }
    // If libjpeg had to repair a JPEG, it is better encoded again.
    guard soundness == .sound else { return (nil, tile) }
    if tile.width == strip.tileSize, tile.height == strip.tileSize { return (bytes, tile) }
    // An edge tile of a TIFF has full size and is cut, if possible.
    return (cutter?.encode(unit, width: tile.width, height: tile.height), tile)
  }
}
