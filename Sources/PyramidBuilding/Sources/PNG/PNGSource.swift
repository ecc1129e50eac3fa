import CISAL
import Imaging

/// A PNG file read strip by strip: its chunks checked, inflated by ISA-L as they stream, unfiltered in
/// place. Memory does not grow with the image's height.
final class PNGSource: StripSource, StripDecoding {
  let width: Int
  let height: Int
  let layout: PixelLayout
  let hasAlpha: Bool
  let steps: [String] = []
  private let file: PNGFile
  private let bands: PixelBands
  private let state: UnsafeMutablePointer<inflate_state>
  /// Filtered rows, each with its filter's number in front.
  private let inflated: UnsafeMutablePointer<UInt8>
  private let rowsAtOnce: Int
  private var inflatedRows = 0
  private var nextInflatedRow = 0
  /// The row above the next one: in `kept`, or among the inflated ones where it has no filter.
  private var above: UnsafePointer<UInt8>
  /// Two rows that take turns.
  private var kept: UnsafeMutablePointer<UInt8>
  private var free: UnsafeMutablePointer<UInt8>
  private var rowsLeft: Int

  /// Inflating in pieces costs a copy of the window of 32 KiB for each.
  private static let inflatedSize = 1 << 19
  /// Vectors of four bytes may begin at the last one.
  private static let slack = 64

  /// - Parameter file: a plain one.
  init(_ file: PNGFile) {
    guard file.obstacle == nil, let bands = file.bands else {
      preconditionFailure("only pixels that need no conversion are read here")
    }
    (self.file, self.bands) = (file, bands)
    (width, height) = (file.width, file.height)
    layout = .interleaved(bands)
    hasAlpha = bands.hasAlpha
    let rowSize = file.width * bands.count
    rowsAtOnce = min(file.height, max(1, Self.inflatedSize / (rowSize + 1)))
    rowsLeft = file.height
    inflated = .allocate(capacity: rowsAtOnce * (rowSize + 1) + Self.slack)
    kept = .allocate(capacity: rowSize + Self.slack)
    kept.initialize(repeating: 0, count: rowSize + Self.slack)
    free = .allocate(capacity: rowSize + Self.slack)
    above = UnsafePointer(kept)
    state = .allocate(capacity: 1)
    isal_inflate_init(state)
    state.pointee.crc_flag = UInt32(ISAL_ZLIB)
    state.pointee.avail_in = 0
  }

  deinit {
    inflated.deallocate()
    kept.deallocate()
    free.deallocate()
    state.deallocate()
  }

  private var rowSize: Int { width * bands.count }

  var memory: Int { rowsAtOnce * (rowSize + 1) + 2 * rowSize + (1 << 20) }

  func makeDecoder() -> any StripDecoding { self }

  func decode(piece: Int, into strip: Strip) throws(BuildError) {
    for y in 0..<strip.height {
      if nextInflatedRow == inflatedRows { try inflateRows() }
      let filtered = inflated + nextInflatedRow * (rowSize + 1)
      if filtered[0] == 0 {
        above = UnsafePointer(filtered + 1)
      } else {
        guard
          PNGUnfilter.undo(
            filtered[0], filtered + 1, above: above, to: free, count: rowSize, bands: bands)
        else {
          throw file.chunks.refused("row \(height - rowsLeft) has filter \(filtered[0]); there are 0 to 4")
        }
        swap(&kept, &free)
        above = UnsafePointer(kept)
      }
      strip.put(above, count: width, plane: 0, x: 0, y: y)
      nextInflatedRow += 1
      rowsLeft -= 1
    }
    if rowsLeft == 0 { try finish() }
  }

  private func inflateRows() throws(BuildError) {
    if above != kept {
      kept.update(from: above, count: rowSize)
      above = UnsafePointer(kept)
    }
    inflatedRows = min(rowsAtOnce, rowsLeft)
    nextInflatedRow = 0
    let left = try inflate(to: inflated, count: inflatedRows * (rowSize + 1))
    guard left == 0 else { throw file.chunks.refused("its pixel data end before its last row") }
  }

  /// Reads what must come behind the pixels: the checksum of the data, and the chunks up to the last.
  private func finish() throws(BuildError) {
    guard try inflate(to: inflated, count: 1) == 1 else {
      throw file.chunks.refused("has more pixel data than its size says")
    }
    // Looking for more input may have led to the last chunk already.
    while file.chunks.name != PNGChunk.end { try file.chunks.next() }
    try file.chunks.finish()
  }

  /// - Returns: how many bytes of `count` are missing because the stream has come to its end.
  private func inflate(to out: UnsafeMutablePointer<UInt8>, count: Int) throws(BuildError) -> Int {
    var done = 0
    while done < count {
      // ISA-L counts in 32 bits.
      let size = min(count - done, 1 << 30)
      state.pointee.next_out = out + done
      state.pointee.avail_out = UInt32(size)
      while state.pointee.avail_out > 0, state.pointee.block_state != ISAL_BLOCK_FINISH {
        let before = (state.pointee.avail_in, state.pointee.avail_out)
        if before.0 == 0 { try moreInput() }
        let hadInput = state.pointee.avail_in > 0
        let code = isal_inflate(state)
        guard code == ISAL_DECOMP_OK else { throw damaged(code) }
        if !hadInput, state.pointee.avail_out == before.1, state.pointee.block_state != ISAL_BLOCK_FINISH {
          throw file.chunks.refused("its pixel data end early")
        }
      }
      done += size - Int(state.pointee.avail_out)
      if state.pointee.avail_out > 0 { break }
    }
    return count - done
  }

  private func damaged(_ code: Int32) -> BuildError {
    file.chunks.refused(
      code == ISAL_INCORRECT_CHECKSUM
        ? "the checksum of its pixel data does not match" : "its pixel data are damaged")
  }

  /// Sets the next bytes of the IDAT chunks as input; none when the last has been read.
  private func moreInput() throws(BuildError) {
    while file.chunks.name == PNGChunk.data {
      let bytes = try file.chunks.part()
      if bytes.count > 0 {
        state.pointee.next_in = bytes.baseAddress
        state.pointee.avail_in = UInt32(bytes.count)
        return
      }
      try file.chunks.next()
    }
  }
}
