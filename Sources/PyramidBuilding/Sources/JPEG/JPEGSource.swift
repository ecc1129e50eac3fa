import TileStorage
import ZigguratCJPEGStream
import ZigguratImaging

/// A JPEG file read strip by strip through libjpeg: as RGB or gray rows, as its own 4:2:0 planes, or as
/// its own DCT coefficients.
final class JPEGSource: StripSource, StripDecoding {
  /// The form in which the file's data become tiles.
  enum Path: Hashable {
    /// RGB or gray, exactly what `vips dzsave` sees.
    case rows
    /// Y, Cb, Cr of 4:2:0 as stored: no colour conversion, no resampling of chroma.
    case planes
    /// Full-resolution tiles cut from the coefficients, the levels below from planes.
    case coefficients
  }

  let width: Int
  let height: Int
  let layout: PixelLayout
  private let file: JPEGFile
  private let path: Path
  private let tileSize: Int
  /// Rows on their way from the decoder to the tiles; small enough for a cache.
  private let rows: PlaneBuffer

  /// - Parameter path: one that the file allows.
  init(_ file: JPEGFile, _ path: Path, tileSize: Int) throws(BuildError) {
    self.file = file
    self.path = path
    self.tileSize = tileSize
    width = file.width
    height = file.height
    switch path {
    case _ where file.isGray: layout = .interleaved(.gray)
    case .rows: layout = .interleaved(.rgb)
    case .planes, .coefficients: layout = .planar420
    }
    let (mode, rowCount) =
      switch path {
      case .rows: (JS_ROWS, 8)
      case .planes: (JS_PLANES, 16)
      case .coefficients: (JS_COEFFICIENTS, 0)
      }
    rows = PlaneBuffer(layout, width: file.width, height: rowCount)
    try check { js_start(reader, Int32(mode), $0) }
  }

  private var reader: OpaquePointer { file.reader }

  func makeDecoder() -> any StripDecoding { self }

  private var mcuSize: Int { Int(js_mcu_size(reader)) }
  private var blocksPerMCU: Int { Int(js_blocks_per_mcu(reader)) }
  /// Blocks in a row of MCUs of a strip.
  fileprivate var blockStride: Int { (width + mcuSize - 1) / mcuSize * blocksPerMCU }

  var coefficientsPerStrip: Int {
    path == .coefficients ? blockStride * 64 * (tileSize / mcuSize) : 0
  }

  /// Coefficients of several scans stand in memory until its last scan is read.
  var memory: Int {
    guard file.info.has_several_scans != 0 else { return 1 << 20 }
    return width * height * (file.isGray ? 2 : file.is420 ? 3 : 6)
  }

  func finish() throws(BuildError) -> SourceDamage? { try file.finish() }

  func decode(piece: Int, into strip: Strip) throws(BuildError) {
    switch path {
    case .coefficients:
      let rows = (strip.height + mcuSize - 1) / mcuSize
      try check { js_read_coefficients(reader, strip.coefficients, blockStride, Int32(rows), $0) }
    case .rows:
      try move(to: strip) { (count) throws(BuildError) in
        try check { js_read_rows(reader, rows.planes[0].base, rows.planes[0].stride, count, $0) }
      }
    case .planes:
      let (bases, strides) = (rows.planes.bases, rows.planes.strides)
      try move(to: strip) { (count) throws(BuildError) in
        try check { js_read_planes(reader, bases, strides, count, $0) }
      }
    }
  }

  private func move(to strip: Strip, _ read: (Int32) throws(BuildError) -> Void) throws(BuildError) {
    for y in stride(from: 0, to: strip.height, by: rows.height) {
      let count = min(rows.height, strip.height - y)
      try read(Int32(count))
      strip.put(rows.planes, rows: 0..<count, width: width, x: 0, y: y)
    }
  }

  var hasReadyTiles: Bool { path == .coefficients }

  func makeReadyTiles() throws(BuildError) -> (any ReadyTiles)? {
    guard path == .coefficients else { return nil }
    return try CoefficientTiles(self, tileSize: tileSize)
  }

  private func check(_ call: (UnsafeMutablePointer<CChar>) -> Int32) throws(BuildError) {
    try JPEGFile.check(file.subject, call)
  }

  /// Cuts tiles from coefficients, without another loss.
  private final class CoefficientTiles: ReadyTiles {
    private let source: JPEGSource
    private let writer: JPEGTileWriter
    /// To shrink from.
    private let buffer: PlaneBuffer

    init(_ source: JPEGSource, tileSize: Int) throws(BuildError) {
      self.source = source
      writer = try JPEGTileWriter(source.file.info, of: source.file.subject)
      buffer = PlaneBuffer(source.layout, width: tileSize, height: tileSize)
    }

    func tile(_ column: Int, of strip: Strip, width: Int) throws(BuildError) -> (
      bytes: UnsafeRawBufferPointer?, pixels: TilePixels
    ) {
      let (mcu, blocks) = (source.mcuSize, source.blocksPerMCU)
      let first = strip.coefficients! + column * (strip.tileSize / mcu) * blocks * 64
      let bytes = try writer.write(first, stride: source.blockStride, width: width, height: strip.height)
      let tile = buffer.pixels(width: width, height: strip.height)
      js_inverse_dct(
        source.reader, first, source.blockStride, Int32((width + mcu - 1) / mcu),
        Int32((strip.height + mcu - 1) / mcu), tile.planes.bases, tile.planes.strides)
      return (bytes, tile)
    }
  }
}
