import TileStorage
import ZigguratImaging

/// A PNG file read strip by strip: its chunks checked, inflated by ISA-L as they stream, unfiltered in
/// place. Memory does not grow with the image's height.
final class PNGSource: StripSource, StripDecoding {
  let width: Int
  let height: Int
  let layout: PixelLayout
  private let file: PNGFile
  private let bands: PixelBands
  private let inflater: PNGInflater
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
  /// From which on nothing could be decoded.
  private var firstLostRow: Int?

  /// Inflating in pieces costs a copy of the window of 32 KiB for each.
  private static let inflatedSize = 1 << 19
  /// Vectors of four bytes may begin at the last one.
  private static let slack = 64

  /// - Parameter file: a plain one.
  init(_ file: PNGFile) {
    guard file.obstacle == nil, let bands = file.bands else {
      preconditionFailure("only pixels that need no conversion are read here")
    }
    self.file = file
    self.bands = bands
    width = file.width
    height = file.height
    layout = .interleaved(bands)
    let rowSize = file.width * bands.count
    rowsAtOnce = min(file.height, max(1, Self.inflatedSize / (rowSize + 1)))
    rowsLeft = file.height
    inflated = .allocate(capacity: rowsAtOnce * (rowSize + 1) + Self.slack)
    kept = .allocate(capacity: rowSize + Self.slack)
    kept.initialize(repeating: 0, count: rowSize + Self.slack)
    free = .allocate(capacity: rowSize + Self.slack)
    above = UnsafePointer(kept)
    inflater = PNGInflater(file.chunks)
  }

  deinit {
    inflated.deallocate()
    kept.deallocate()
    free.deallocate()
  }

  private var rowSize: Int { width * bands.count }

  var memory: Int { rowsAtOnce * (rowSize + 1) + 2 * rowSize + (1 << 20) }

  func makeDecoder() -> any StripDecoding { self }

  func decode(piece: Int, into strip: Strip) throws(BuildError) {
    for y in 0..<strip.height {
      if nextInflatedRow == inflatedRows { inflateRows() }
      let filtered = inflated + nextInflatedRow * (rowSize + 1)
      if filtered[0] == 0 {
        above = UnsafePointer(filtered + 1)
      } else {
        if PNGUnfilter.undo(
          filtered[0], filtered + 1, above: above, to: free, count: rowSize, bands: bands)
        {
          swap(&kept, &free)
          above = UnsafePointer(kept)
        } else {
          lose(
            fromInflatedRow: nextInflatedRow,
            SourceDamage(
              .error, "row \(height - rowsLeft) of the PNG file has filter \(filtered[0]); there are 0 to 4"))
          above = UnsafePointer(filtered + 1)
        }
      }
      strip.put(above, count: width, plane: 0, x: 0, y: y)
      nextInflatedRow += 1
      rowsLeft -= 1
    }
  }

  private func inflateRows() {
    if above != kept {
      kept.update(from: above, count: rowSize)
      above = UnsafePointer(kept)
    }
    inflatedRows = min(rowsAtOnce, rowsLeft)
    nextInflatedRow = 0
    let size = inflatedRows * (rowSize + 1)
    let count = firstLostRow == nil ? inflater.inflate(to: inflated, count: size) : 0
    guard count < size else { return }
    lose(
      fromInflatedRow: count / (rowSize + 1),
      inflater.failure ?? SourceDamage(.error, "the PNG file's pixel data end before its last row"))
  }

  /// Makes all rows from this one on 0.
  private func lose(fromInflatedRow row: Int, _ damage: SourceDamage) {
    (inflated + row * (rowSize + 1)).update(repeating: 0, count: (inflatedRows - row) * (rowSize + 1))
    guard firstLostRow == nil else { return }
    let first = height - rowsLeft + row - nextInflatedRow
    firstLostRow = first
    file.chunks.log.add(damage.kind, "\(damage.reason): \(height - first) of \(height) rows are missing")
  }

  var truncation: SourceDamage? { file.chunks.log.truncation }

  func finish() throws(BuildError) -> SourceDamage? {
    if firstLostRow == nil { readEnd() }
    let damage = file.chunks.log.worst
    if firstLostRow == 0 { throw file.chunks.refused(damage?.reason ?? "has no pixels") }
    return damage
  }

  /// Reads the data after the pixels: the checksum of the data, and the remaining chunks.
  private func readEnd() {
    let log = file.chunks.log
    if inflater.inflate(to: inflated, count: 1) == 1 {
      log.add(.warning, "the PNG file has more pixel data than its size says")
    } else if let failure = inflater.failure {
      return log.add(
        failure.kind,
        failure.kind == .truncated ? "the PNG file is cut off behind its last row" : failure.reason)
    }
    do throws(BuildError) {
      // Looking for more input may have led to the last chunk already.
      while file.chunks.name != PNGChunk.end { try file.chunks.next() }
      try file.chunks.finish()
    } catch {
      if file.chunks.hasEnded {
        log.add(.truncated, "the PNG file is cut off behind its last row")
      } else {
        log.add(.warning, error.reason)
      }
    }
  }
}
