import Testing
import TileGeometry

@testable import PyramidBuilding

/// Samples in memory, 16-bit ones as they are and 8-bit ones cut to their lower half.
struct Samples: PixelSource {
  var width: Int
  var height: Int
  var bands: Int
  var bitsPerSample = 8
  var micronsPerPixel: Point?
  var samples: [UInt16]
  /// Called with the rows that are asked for, before they are given.
  var onRead: @Sendable (Range<Int>) throws -> Void = { _ in }

  init(_ picture: Picture) {
    (width, height, bands) = (picture.width, picture.height, picture.bands)
    samples = picture.pixels.map { UInt16($0) }
  }

  init(width: Int, height: Int, bands: Int, bits: Int, _ samples: [UInt16]) {
    (self.width, self.height, self.bands, bitsPerSample) = (width, height, bands, bits)
    self.samples = samples
  }

  mutating func read(rows: Range<Int>, into bytes: inout MutableRawSpan) throws {
    try onRead(rows)
    let part = samples[rows.lowerBound * width * bands..<rows.upperBound * width * bands]
    #expect(bytes.byteCount == part.count * bitsPerSample / 8)
    for (at, sample) in part.enumerated() {
      if bitsPerSample == 8 {
        bytes.storeBytes(of: UInt8(sample), toByteOffset: at, as: UInt8.self)
      } else {
        bytes.storeBytes(of: sample, toByteOffset: 2 * at, as: UInt16.self)
      }
    }
  }
}
