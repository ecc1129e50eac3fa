import ZigguratCJPEGStream
import ZigguratCTurboJPEG
import ZigguratImaging

/// Reads the coefficients of a TIFF file's JPEG tiles, and makes tiles and pixels of them. One per thread.
final class TIFFCoefficients {
  let mcu: JPEGHeader.MCU
  private let file: TIFFFile
  private let units: TIFFChunkReader
  private let reader: OpaquePointer
  /// Has the first tile's tables for `inverseDCT`, whatever a damaged tile leaves in `reader`.
  private let inverter: OpaquePointer
  private let writer: JPEGTileWriter
  /// The header of the first tile, which all others share.
  private let info: js_info
  /// Rows of coefficients that are discarded.
  private let aside: UnsafeMutablePointer<Int16>

  init(_ file: TIFFFile, _ mcu: JPEGHeader.MCU) throws(BuildError) {
    self.file = file
    self.mcu = mcu
    units = try TIFFChunkReader(file)
    var info = js_info()
    let reader = try Self.reader(of: file, units, &info)
    do throws(BuildError) { inverter = try Self.reader(of: file, units, &info) } catch {
      js_close(reader)
      throw error
    }
    // The file may have been written over since its header was looked at.
    guard Int(js_blocks_per_mcu(reader)) == mcu.blocks, Int(info.h.0) * 8 == mcu.width,
      Int(info.v.0) * 8 == mcu.height, let writer = try? JPEGTileWriter(info, of: file.path)
    else {
      js_close(reader)
      js_close(inverter)
      throw Self.noMemory(file)
    }
    self.reader = reader
    self.writer = writer
    self.info = info
    aside = .allocate(capacity: file.chunkWidth / mcu.width * mcu.blocks * 64)
  }

  /// Returns a reader of the first tile's coefficients.
  private static func reader(
    of file: TIFFFile, _ units: TIFFChunkReader, _ info: inout js_info
  ) throws(BuildError) -> OpaquePointer {
    guard let reader = js_new() else { throw noMemory(file) }
    do throws(BuildError) {
      let data = try units.jpeg(0)
      try JPEGFile.check(file.path, isPart: true) {
        js_begin(reader, data.baseAddress, data.count, file.jpegColour, &info, $0)
      }
      try JPEGFile.check(file.path, isPart: true) { js_start(reader, Int32(JS_COEFFICIENTS), $0) }
    } catch {
      js_close(reader)
      throw error
    }
    return reader
  }

  deinit {
    js_close(reader)
    js_close(inverter)
    aside.deallocate()
  }

  private static func noMemory(_ file: TIFFFile) -> BuildError {
    BuildError(file.path, "no memory for a JPEG decoder", isTemporary: true)
  }

  /// Puts rows of MCUs of a tile of the file where `blocks` is; gray ones if it cannot be decoded.
  ///
  /// - Parameters:
  ///   - rows: of MCUs, from the tile's upper edge.
  ///   - stride: blocks from one row of MCUs to the next.
  func readOrLose(
    _ unit: Int, rows: Range<Int>, into blocks: UnsafeMutablePointer<Int16>, stride: Int
  ) throws(BuildError) {
    do throws(BuildError) { try read(unit, rows: rows, into: blocks, stride: stride) } catch {
      try units.lose(unit, error)
      for row in 0..<rows.count {
        (blocks + row * stride * 64).update(
          repeating: 0, count: file.chunkWidth / mcu.width * mcu.blocks * 64)
      }
    }
  }

  /// Puts rows of MCUs of a tile of the file where `blocks` is.
  ///
  /// - Parameters:
  ///   - rows: of MCUs, from the tile's upper edge.
  ///   - stride: blocks from one row of MCUs to the next.
  func read(
    _ unit: Int, rows: Range<Int>, into blocks: UnsafeMutablePointer<Int16>, stride: Int
  ) throws(BuildError) {
    let data = try units.jpeg(unit)
    var found = js_info()
    do throws(BuildError) {
      try JPEGFile.check(file.path, isPart: true) {
        js_begin(reader, data.baseAddress, data.count, file.jpegColour, &found, $0)
      }
      guard isLikeFirst(found) else { throw BuildError(file.path, "is not like the first") }
      try JPEGFile.check(file.path, isPart: true) { js_start(reader, Int32(JS_COEFFICIENTS), $0) }
      if !rows.isEmpty {
        try JPEGFile.check(file.path, isPart: true) {
          js_read_coefficients(reader, aside, 0, Int32(rows.lowerBound), $0)
        }
        try JPEGFile.check(file.path, isPart: true) {
          js_read_coefficients(reader, blocks, stride, Int32(rows.count), $0)
        }
        if let flaw = JPEGFile.flaw(js_noticed(reader)) {
          file.log.add(.error, "the TIFF file is damaged: \(units.name(unit)): \(flaw)")
        }
      }
    } catch { throw BuildError(file.path, "\(units.name(unit)): \(error.reason)") }
  }

  /// Whether a header is still like the first tile's: the file may have been written over since the survey.
  private func isLikeFirst(_ found: js_info) -> Bool {
    Int(found.width) == file.chunkWidth && Int(found.height) == file.chunkHeight
      && found.components == info.components && found.has_several_scans == 0 && found.is_arithmetic == 0
      && withUnsafeBytes(of: found.h) { left in withUnsafeBytes(of: info.h) { left.elementsEqual($0) } }
      && withUnsafeBytes(of: found.v) { left in withUnsafeBytes(of: info.v) { left.elementsEqual($0) } }
      && withUnsafeBytes(of: found.quantisation) { left in
        withUnsafeBytes(of: info.quantisation) { left.elementsEqual($0) }
      }
  }

  /// A tile of so many pixels of these coefficients, valid until the next call; nil where they make none, as damage
  /// does that the decoder passed over.
  func encode(
    _ blocks: UnsafePointer<Int16>, stride: Int, width: Int, height: Int
  ) -> UnsafeRawBufferPointer? {
    try? writer.write(blocks, stride: stride, width: width, height: height)
  }

  /// Inverse DCT into planes that have room for whole MCUs.
  func inverseDCT(
    _ blocks: UnsafeMutablePointer<Int16>, stride: Int, width: Int, height: Int,
    into planes: Planes
  ) {
    js_inverse_dct(
      inverter, blocks, stride, Int32((width + mcu.width - 1) / mcu.width),
      Int32((height + mcu.height - 1) / mcu.height), planes.bases, planes.strides)
  }
}

extension TIFFFile {
  /// The colours of its JPEG data, in the numbers of `js_info`: the TIFF's own field counts, as for OpenSlide and
  /// libtiff.
  fileprivate var jpegColour: Int32 { bands == 1 ? 1 : isYCbCr ? 2 : 3 }
}

/// Decodes the coefficients of a row of output tiles.
final class TIFFCoefficientDecoder: StripDecoding {
  private let source: TIFFSource
  private let coefficients: TIFFCoefficients

  init(_ source: TIFFSource, _ mcu: JPEGHeader.MCU) throws(BuildError) {
    self.source = source
    coefficients = try TIFFCoefficients(source.file, mcu)
  }

  func decode(piece: Int, into strip: Strip) throws(BuildError) {
    let (file, mcu) = (source.file, coefficients.mcu)
    let top = strip.row * strip.tileSize
    for unit in source.units(ofPiece: piece, row: strip.row) {
      // Only this strip's part of the unit; another strip decodes the unit again for its part.
      let unitTop = unit / file.columns * file.chunkHeight
      let first = max(0, top - unitTop) / mcu.height
      let end = (min(unitTop + file.chunkHeight, top + strip.height) - unitTop + mcu.height - 1) / mcu.height
      let row = max(0, unitTop - top) / mcu.height
      let column = unit % file.columns * (file.chunkWidth / mcu.width) * mcu.blocks
      try coefficients.readOrLose(
        unit, rows: first..<end,
        into: strip.coefficients.unsafelyUnwrapped + (row * source.blockStride + column) * 64,
        stride: source.blockStride)
    }
  }
}

/// Cuts tiles from the coefficients of a strip, or of the file's tiles that fill one of output.
final class TIFFCoefficientTiles: ReadyTiles {
  private let source: TIFFSource
  private let coefficients: TIFFCoefficients
  private let buffer: PlaneBuffer
  private let planes: ComponentPlanes?
  /// The coefficients of one tile; nil if they are the strip's.
  private let own: UnsafeMutablePointer<Int16>?
  private let ownStride: Int

  init(_ source: TIFFSource, _ mcu: JPEGHeader.MCU, tileSize: Int, isAligned: Bool) throws(BuildError) {
    self.source = source
    coefficients = try TIFFCoefficients(source.file, mcu)
    buffer = PlaneBuffer(source.layout, width: tileSize, height: tileSize)
    planes =
      source.layout == .interleaved(.rgb)
      ? try ComponentPlanes(isYCbCr: source.file.isYCbCr, tileSize: tileSize) : nil
    ownStride = tileSize / mcu.width * mcu.blocks
    own = isAligned ? .allocate(capacity: ownStride * 64 * (tileSize / mcu.height)) : nil
  }

  deinit { own?.deallocate() }

  func tile(_ column: Int, of strip: Strip, width: Int) throws(BuildError) -> (
    bytes: UnsafeRawBufferPointer?, pixels: TilePixels
  ) {
    let mcu = coefficients.mcu
    let (blocks, stride): (UnsafeMutablePointer<Int16>, Int)
    if let own {
      try fill(own, column, strip, width)
      blocks = own
      stride = ownStride
    } else {
      blocks = strip.coefficients.unsafelyUnwrapped + column * ownStride * 64
      stride = source.blockStride
    }
    let bytes = coefficients.encode(blocks, stride: stride, width: width, height: strip.height)
    let tile = buffer.pixels(width: width, height: strip.height)
    if let planes {
      coefficients.inverseDCT(blocks, stride: stride, width: width, height: strip.height, into: planes.planes)
      try planes.join(into: tile, mcu)
    } else {
      coefficients.inverseDCT(blocks, stride: stride, width: width, height: strip.height, into: tile.planes)
    }
    return (bytes, tile)
  }

  /// Reads the file's tiles that lie on tile `column` of the strip.
  private func fill(
    _ blocks: UnsafeMutablePointer<Int16>, _ column: Int, _ strip: Strip, _ width: Int
  ) throws(BuildError) {
    let (file, mcu) = (source.file, coefficients.mcu)
    let top = strip.row * strip.tileSize / file.chunkHeight
    let left = column * strip.tileSize / file.chunkWidth
    for y in 0..<(strip.height + file.chunkHeight - 1) / file.chunkHeight {
      for x in 0..<(width + file.chunkWidth - 1) / file.chunkWidth {
        let place =
          y * (file.chunkHeight / mcu.height) * ownStride + x * (file.chunkWidth / mcu.width) * mcu.blocks
        try coefficients.readOrLose(
          (top + y) * file.columns + left + x, rows: 0..<file.chunkHeight / mcu.height,
          into: blocks + place * 64, stride: ownStride)
      }
    }
  }
}

/// Cuts the upper left of a file's tiles, for the edges of copied pictures.
final class TIFFUnitCutter {
  private let coefficients: TIFFCoefficients
  private let blocks: UnsafeMutablePointer<Int16>
  private let stride, rows: Int

  /// `nil` if the file's first tile cannot be cut.
  init?(_ file: TIFFFile) {
    guard let reader = try? TIFFChunkReader(file), let data = try? reader.jpeg(0),
      let header = JPEGHeader(UnsafeRawBufferPointer(data)), header.isSequential, header.isInterleaved,
      let mcu = header.mcu, file.chunkWidth % mcu.width == 0, file.chunkHeight % mcu.height == 0,
      let coefficients = try? TIFFCoefficients(file, mcu)
    else { return nil }
    self.coefficients = coefficients
    stride = file.chunkWidth / mcu.width * mcu.blocks
    rows = file.chunkHeight / mcu.height
    blocks = .allocate(capacity: stride * rows * 64)
  }

  deinit { blocks.deallocate() }

  /// Returns the upper left of a tile; nil if the tile is not like the first, or is damaged.
  func encode(_ unit: Int, width: Int, height: Int) -> UnsafeRawBufferPointer? {
    guard (try? coefficients.read(unit, rows: 0..<rows, into: blocks, stride: stride)) != nil else {
      return nil
    }
    return coefficients.encode(blocks, stride: stride, width: width, height: height)
  }
}
