import Imaging

extension PixelBands {
  /// IHDR's colour type (PNG, section 11.2.1). Inverse of `pngColourType`; nil for a palette and for what is none.
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
  /// Those of a pixel; nil of a palette's, and of a kind that is unknown.
  let bands: PixelBands?
  /// Why pixels cannot be taken as they stand, which are 8 bits a channel, not interlaced, without palette
  /// or transparent colour; nil where they can.
  let obstacle: String?
  let colours: PNGColours
  let chunks: PNGChunkReader

  /// Deflate expands no byte to more than this many.
  private static let largestExpansion = 1032
  /// Bytes; a few rows are held, and libvips refuses what is wider.
  private static let longestRow = 1 << 26

  init(path: String) throws(BuildError) {
    chunks = try PNGChunkReader(path: path)
    guard try chunks.next() == PNGChunk.header, chunks.remaining == 13 else {
      throw chunks.refused("does not begin with a header")
    }
    let header = try chunks.rest(atMost: 13)
    func number(_ bytes: some Collection<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
    (width, height) = (number(header[0..<4]), number(header[4..<8]))
    guard (1...0x7fff_ffff).contains(width), (1...0x7fff_ffff).contains(height) else {
      throw chunks.refused("says that it is \(width) × \(height) pixels; each side is 1 to 2147483647")
    }
    let (depth, colourType) = (header[8], header[9])
    bands = PixelBands(pngColourType: colourType)
    var colours = PNGColours()
    var hasTransparentColour = false
    while try chunks.next() != PNGChunk.data {
      switch chunks.name {
      case PNGChunk.end: throw chunks.refused("has no pixels")
      case PNGChunk.header: throw chunks.refused("has two headers")
      case PNGChunk.transparency: hasTransparentColour = true
      case PNGChunk.codePoints:
        let points = try chunks.rest(atMost: 4)
        guard points.count >= 2 else { throw chunks.refused("has a cICP that is too short") }
        colours.codePoints = CodePoints(primaries: Int(points[0]), transfer: Int(points[1]))
      case PNGChunk.standardRGB, PNGChunk.profile: colours.isStandardRGB = true
      case PNGChunk.gamma: colours.gamma = number(try chunks.rest(atMost: 4))
      case PNGChunk.chromaticities:
        let values = try chunks.rest(atMost: 32)
        colours.chromaticities = stride(from: 0, to: values.count, by: 4).map {
          number(values[$0..<min($0 + 4, values.count)])
        }
      default: break
      }
    }
    self.colours = colours
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
      } else if width > Self.longestRow / samples {
        "the length of its rows"
      } else {
        nil
      }
    let rowSize = (width * samples * Int(depth) + 7) / 8 + 1
    guard rowSize <= chunks.fileSize * Self.largestExpansion / height else {
      throw chunks.refused("says that it is \(width) × \(height) pixels, more than its file can hold")
    }
  }
}
