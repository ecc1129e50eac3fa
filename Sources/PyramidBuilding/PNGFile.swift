/// An open PNG file, read up to its pixel data.
final class PNGFile {
  let width: Int
  let height: Int
  /// 1 gray, 2 with alpha, 3 RGB, 4 with alpha.
  let bands: Int
  /// Pixels can be taken as they stand: 8 bits, not interlaced, no palette or transparent colour, and
  /// colours as sRGB has them unless an embedded profile says otherwise.
  let isPlain: Bool
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
    bands = [0: 1, 4: 2, 2: 3, 6: 4][colourType] ?? 0
    var isPlain = depth == 8 && bands > 0 && header[10] == 0 && header[11] == 0 && header[12] == 0
    var isStandardRGB = false
    var hasOtherColours = false
    while try chunks.next() != PNGChunk.data {
      switch chunks.name {
      case PNGChunk.end: throw chunks.refused("has no pixels")
      case PNGChunk.header: throw chunks.refused("has two headers")
      case PNGChunk.transparency, PNGChunk.codePoints: isPlain = false
      // A profile counts before gAMA and cHRM; what it means is judged where the file is routed.
      case PNGChunk.standardRGB, PNGChunk.profile: isStandardRGB = true
      case PNGChunk.gamma:
        hasOtherColours = number(try chunks.rest(atMost: 4)) != 45455 || hasOtherColours
      case PNGChunk.chromaticities:
        let values = try chunks.rest(atMost: 32)
        let points = stride(from: 0, to: values.count, by: 4).map {
          number(values[$0..<min($0 + 4, values.count)])
        }
        hasOtherColours =
          points != [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000] || hasOtherColours
      default: break
      }
    }
    // sRGB says more than the other two, which then are there for old readers (PNG 11.3.2.5).
    self.isPlain =
      isPlain && (isStandardRGB || !hasOtherColours) && width <= Self.longestRow / max(bands, 1)
    let samples = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colourType] ?? 1
    let rowSize = (width * samples * Int(depth) + 7) / 8 + 1
    guard rowSize <= chunks.fileSize * Self.largestExpansion / height else {
      throw chunks.refused("says that it is \(width) × \(height) pixels, more than its file can hold")
    }
  }
}
