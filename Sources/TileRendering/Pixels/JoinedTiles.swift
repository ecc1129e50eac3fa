package import TileGeometry
package import TileStorage
import ZigguratCJPEGStream
import ZigguratCTurboJPEG

/// A JPEG of an archive's JPEG tiles at full resolution. Their coefficients are put side by side and written with their
/// own quantization, so that nothing is lost.
///
/// Tiles have the same parameters if one encoder made them. If they differ, no JPEG can contain them all.
package struct JoinedTiles {
  private let archive: TileArchive
  private let cancellation: Cancellation

  init(_ archive: TileArchive, _ cancellation: Cancellation) {
    self.archive = archive
    self.cancellation = cancellation
  }

  /// The maximum side of an MCU in pixels: that of halved chroma.
  private static let widestBlock = 16
  /// libjpeg's longest side in pixels.
  private static let maxDimension = 65_500

  /// Whether a part of the image begins and, if it is rotated, ends on borders of blocks. Then it is a JPEG of the
  /// tiles' own coefficients, unless the tiles differ in their parameters.
  ///
  /// - Parameters:
  ///   - rectangle: image space, inside the image.
  ///   - rotation: the mirroring and rotation of the part afterwards.
  package static func mayJoin(_ rectangle: PixelRect, rotated rotation: Rotation, of archive: TileArchive)
    -> Bool
  {
    let pyramid = archive.pyramid
    func isOnBorder(_ number: Int) -> Bool { number % widestBlock == 0 }
    guard archive.format == .jpeg, pyramid.overlap == 0, isOnBorder(pyramid.tileSize),
      operation(rotation) != nil, max(rectangle.width, rectangle.height) <= maxDimension
    else { return false }
    return isOnBorder(rectangle.x) && isOnBorder(rectangle.y)
      && (rotation.isIdentity || isOnBorder(rectangle.width) && isOnBorder(rectangle.height))
  }

  /// The coefficients of the part, in the order of its MCUs.
  private struct Board {
    let info: js_info
    /// Pixels of an MCU along a side.
    let mcu: Int
    /// Blocks in an MCU.
    let blocks: Int
    /// MCUs of the part.
    let columns, rows: Int
    let memory: UnsafeMutableBufferPointer<Int16>

    var stride: Int { columns * blocks }
  }

  /// Returns the file's bytes.
  ///
  /// - Parameter rectangle: image space, inside the image.
  func jpeg(of rectangle: PixelRect, rotated rotation: Rotation) throws(RenderError) -> [UInt8] {
    let pyramid = archive.pyramid
    guard Self.mayJoin(rectangle, rotated: rotation, of: archive) else { throw Self.unlike }
    guard let reader = js_new() else { throw Self.noMemory }
    defer { js_close(reader) }
    let side = pyramid.tileSize
    var known: Board?
    defer { known?.memory.deallocate() }
    let aside = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 2 * 3 * side * side)
    defer { aside.deallocate() }
    for row in rectangle.y / side...(rectangle.y + rectangle.height - 1) / side {
      for column in rectangle.x / side...(rectangle.x + rectangle.width - 1) / side {
        try cancellation.check()
        let address = TileAddress(level: pyramid.topLevel, column: column, row: row)
        guard let place = pyramid.rectangle(of: address) else { throw Self.unlike }
        let info = try begin(address, place, reader)
        if known == nil { known = try Self.board(info, rectangle, reader) }
        guard let board = known, Self.areAlike(info, board.info) else { throw Self.unlike }
        try read(place, of: rectangle, reader, by: aside, into: board)
      }
    }
    guard let board = known, let writer = withUnsafePointer(to: board.info, js_tile_writer_new) else {
      throw Self.noMemory
    }
    defer { js_tile_writer_free(writer) }
    var bytes: UnsafePointer<UInt8>?
    var count = 0
    try Self.check {
      js_tile_write(
        writer, board.memory.baseAddress, board.stride, Int32(rectangle.width), Int32(rectangle.height),
        &bytes,
        &count, $0)
    }
    return try Self.rotated(UnsafeBufferPointer(start: bytes, count: count), rotation)
  }

  /// Reads the tile's header and prepares the reader for its coefficients.
  private func begin(
    _ address: TileAddress, _ place: PixelRect, _ reader: OpaquePointer
  ) throws(RenderError) -> js_info {
    let number = archive.tileIndex(level: address.level, column: address.column, row: address.row)
    guard let number, case .here(let bytes, _) = archive.waitForTile(number), !bytes.isEmpty,
      // With a profile, its numbers mean other colours than those of a file without one.
      !TileDecoder.carriesProfile(bytes)
    else { throw Self.unlike }
    var info = js_info()
    try Self.check {
      js_begin(reader, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count, 0, &info, $0)
    }
    guard Int(info.width) == place.width, Int(info.height) == place.height, info.has_several_scans == 0,
      info.is_arithmetic == 0, Self.isOfSquareBlocks(info)
    else { throw Self.unlike }
    try Self.check { js_start(reader, Int32(JS_COEFFICIENTS), $0) }
    return info
  }

  /// Whether it is gray, or Y, Cb and Cr whose chroma has full resolution, or half in both directions.
  private static func isOfSquareBlocks(_ info: js_info) -> Bool {
    switch info.components {
    case 1: return info.colour == 1 && info.h.0 == 1 && info.v.0 == 1
    case 3:
      let isChromaWhole = info.h.1 == 1 && info.v.1 == 1 && info.h.2 == 1 && info.v.2 == 1
      return info.colour == 2 && info.h.0 == info.v.0 && (1...2).contains(info.h.0) && isChromaWhole
    default: return false
    }
  }

  private static func areAlike(_ one: js_info, _ other: js_info) -> Bool {
    func same<Value>(_ path: KeyPath<js_info, Value>) -> Bool {
      withUnsafeBytes(of: one[keyPath: path]) { one in
        withUnsafeBytes(of: other[keyPath: path]) { one.elementsEqual($0) }
      }
    }
    return one.components == other.components && same(\.h) && same(\.v) && same(\.quantisation)
  }

  private static func board(
    _ info: js_info, _ rectangle: PixelRect, _ reader: OpaquePointer
  ) throws(RenderError) -> Board {
    let (mcu, blocks) = (Int(js_mcu_size(reader)), Int(js_blocks_per_mcu(reader)))
    let columns = (rectangle.width + mcu - 1) / mcu
    let rows = (rectangle.height + mcu - 1) / mcu
    let (count, isTooMuch) = (columns * blocks * 64).multipliedReportingOverflow(by: rows)
    guard !isTooMuch else { throw noMemory }
    return Board(
      info: info, mcu: mcu, blocks: blocks, columns: columns, rows: rows,
      memory: .allocate(capacity: count))
  }

  /// Copies the required part of a tile to its place.
  /// - Parameter aside: room for a whole tile's coefficients.
  private func read(
    _ tile: PixelRect, of rectangle: PixelRect, _ reader: OpaquePointer,
    by aside: UnsafeMutableBufferPointer<Int16>, into board: Board
  ) throws(RenderError) {
    let mcu = board.mcu
    // In MCUs of the image: all of these numbers except the ends lie on borders.
    let left = max(tile.x, rectangle.x) / mcu
    let right = (min(tile.x + tile.width, rectangle.x + rectangle.width) + mcu - 1) / mcu
    let top = max(tile.y, rectangle.y) / mcu
    let bottom = (min(tile.y + tile.height, rectangle.y + rectangle.height) + mcu - 1) / mcu
    let stride = (tile.width + mcu - 1) / mcu * board.blocks
    let rows = bottom - tile.y / mcu
    precondition(stride * 64 * rows <= aside.count, "a tile's coefficients fit")
    try Self.check { js_read_coefficients(reader, aside.baseAddress, stride, Int32(rows), $0) }
    let count = (right - left) * board.blocks * 64
    for row in top..<bottom {
      let from = ((row - tile.y / mcu) * stride + (left - tile.x / mcu) * board.blocks) * 64
      let to = ((row - rectangle.y / mcu) * board.stride + (left - rectangle.x / mcu) * board.blocks) * 64
      (board.memory.baseAddress! + to).update(from: aside.baseAddress! + from, count: count)
    }
  }

  // MARK: Turning

  /// Returns the operation; nil unless the angle is a multiple of 90°.
  private static func operation(_ rotation: Rotation) -> TJXOP? {
    switch (rotation.degrees, rotation.isFlipped) {
    case (0, false): TJXOP_NONE
    case (90, false): TJXOP_ROT90
    case (180, false): TJXOP_ROT180
    case (270, false): TJXOP_ROT270
    case (0, true): TJXOP_HFLIP
    case (90, true): TJXOP_TRANSVERSE
    case (180, true): TJXOP_VFLIP
    case (270, true): TJXOP_TRANSPOSE
    default: nil
    }
  }

  private static func rotated(
    _ jpeg: UnsafeBufferPointer<UInt8>, _ rotation: Rotation
  ) throws(RenderError) -> [UInt8] {
    guard !rotation.isIdentity, let operation = operation(rotation) else { return Array(jpeg) }
    guard let turner = tjInitTransform() else { throw noMemory }
    defer { tjDestroy(turner) }
    var transform = tjtransform()
    transform.op = Int32(operation.rawValue)
    transform.options = Int32(TJXOPT_PERFECT)
    var bytes: UnsafeMutablePointer<UInt8>?
    var count: UInt = 0
    let code = tjTransform(turner, jpeg.baseAddress, UInt(jpeg.count), 1, &bytes, &count, &transform, 0)
    defer { tjFree(bytes) }
    guard code == 0 else { throw RenderError("JPEG: " + String(cString: tjGetErrorStr2(turner))) }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
  }

  // MARK: Failures

  private static let unlike = RenderError("the tiles cannot be joined as they are")
  private static let noMemory = RenderError("no memory to join tiles", isTemporary: true)

  private static func check(_ call: (UnsafeMutablePointer<CChar>) -> Int32) throws(RenderError) {
    let failed: String? = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(JS_ERROR_SIZE)) {
      message in
      call(message.baseAddress!) == 0 ? nil : String(cString: message.baseAddress!)
    }
    if let failed { throw RenderError("JPEG: " + failed) }
  }
}
