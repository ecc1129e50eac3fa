import ZigguratFiles
import ZigguratImaging

extension PixelBands {
  /// Creates the bands from IHDR's colour type (PNG, section 11.2.1). Inverse of `pngColourType`; nil for a palette and
  /// for an invalid type.
  init?(pngColourType: UInt8) {
    guard let bands = Self.allCases.first(where: { $0.pngColourType == pngColourType }) else { return nil }
    self = bands
  }

  var pngColourType: UInt8 {
    switch self {
    case .gray: 0
    case .rgb: 2
    case .grayAlpha: 4
    case .rgba: 6
    }
  }
}

/// An open PNG file, read up to its pixel data.
final class PNGFile {
  let width: Int
  let height: Int
  /// The bands of a pixel; nil for a palette, and for an unknown kind.
  let bands: PixelBands?
  /// Why pixels cannot be taken as they stand, which are 8 bits a channel, not interlaced, without palette
  /// or transparent colour; nil where they can.
  let obstacle: String?
  let colours: PNGColours
  /// Whether there are frames beside the picture (PNG, third edition, 11.3.6.1).
  let isAnimated: Bool
  /// Red, green and blue of each entry; nil if the pixels have colours of their own.
  let palette: [[UInt8]]?
  let chunks: PNGChunkReader
  /// Bytes of the filtered rows, each with its filter's number in front, pass by pass if it is interlaced.
  let inflatedRows: [(bytes: Int, count: Int)]

  /// Deflate expands no byte to more than this many.
  private static let maxExpansion = 1032
  /// Maximum bytes of a row. A few rows are kept in memory, and libvips refuses wider images.
  private static let maxRowLength = 1 << 26

  init(path: String) throws(BuildError) {
    chunks = try PNGChunkReader(path: path)
    guard try chunks.next() == PNGChunk.header, chunks.remaining == 13 else {
      throw chunks.refused("does not begin with a header")
    }
    let header = try chunks.rest(atMost: 13)
    let number: (ArraySlice<UInt8>) -> Int = ByteOrder.big.number
    width = number(header[0..<4])
    height = number(header[4..<8])
    guard (1...0x7fff_ffff).contains(width), (1...0x7fff_ffff).contains(height) else {
      throw chunks.refused("says that it is \(width) × \(height) pixels; each side is 1 to 2147483647")
    }
    let (depth, colourType) = (header[8], header[9])
    bands = PixelBands(pngColourType: colourType)
    var colours = PNGColours()
    var (hasTransparentColour, isAnimated) = (false, false)
    var palette: [[UInt8]]?
    while try chunks.next() != PNGChunk.data {
      switch chunks.name {
      case PNGChunk.end: throw chunks.refused("has no pixels")
      case PNGChunk.header: throw chunks.refused("has two headers")
      case PNGChunk.transparency: hasTransparentColour = try chunks.finish()
      case PNGChunk.palette where colourType == 3:
        let bytes = try chunks.rest(atMost: 768)
        palette = stride(from: 0, to: bytes.count - 2, by: 3).map { Array(bytes[$0..<$0 + 3]) }
      case PNGChunk.codePoints:
        guard let points = try chunks.ancillary(atMost: 4), points.count >= 2 else { break }
        colours.codePoints = CICP(primaries: Int(points[0]), transfer: Int(points[1]))
      case PNGChunk.animation:
        isAnimated = try chunks.ancillary(atMost: 8).map { number($0.prefix(4)) > 1 } ?? false
      case PNGChunk.standardRGB: if try chunks.finish() { colours.isStandardRGB = true }
      case PNGChunk.profile: if try chunks.finish() { colours.hasProfile = true }
      case PNGChunk.gamma: colours.gamma = try chunks.ancillary(atMost: 4).map { number($0[...]) }
      case PNGChunk.chromaticities:
        guard let values = try chunks.ancillary(atMost: 32) else { break }
        colours.chromaticities = stride(from: 0, to: values.count, by: 4).map {
          number(values[$0..<min($0 + 4, values.count)])
        }
      default: break
      }
    }
    self.colours = colours
    self.palette = palette
    self.isAnimated = isAnimated
    let samples = bands?.count ?? 1
    obstacle =
      if colourType == 3 {
        "its palette"
      } else if depth != 8 {
        "its \(depth) \(depth == 1 ? "bit" : "bits") a channel"
      } else if header[12] != 0 {
        "its interlacing"
      } else if hasTransparentColour {
        "its transparent colour"
      } else if bands == nil || header[10] != 0 || header[11] != 0 {
        "its unknown kind"
      } else if width > Self.maxRowLength / samples {
        "the length of its rows"
      } else {
        nil
      }
    let rowSize = (width * samples * Int(depth) + 7) / 8 + 1
    inflatedRows = Self.inflatedRows(width, height, bits: samples * Int(depth), isInterlaced: header[12] == 1)
    guard rowSize <= chunks.fileSize * Self.maxExpansion / height else {
      throw chunks.refused("says that it is \(width) × \(height) pixels, more than its file can hold")
    }
  }

  /// Adam7 (PNG, third edition, 8.2): passes without pixels have no rows.
  private static func inflatedRows(
    _ width: Int, _ height: Int, bits: Int, isInterlaced: Bool
  ) -> [(bytes: Int, count: Int)] {
    guard isInterlaced else { return [((width * bits + 7) / 8 + 1, height)] }
    let passes = [
      (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
    ]
    return passes.compactMap { (x, y, across, down) in
      let columns = (width - x + across - 1) / across
      let rows = (height - y + down - 1) / down
      return columns > 0 && rows > 0 ? ((columns * bits + 7) / 8 + 1, rows) : nil
    }
  }
}
