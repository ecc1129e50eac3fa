import Foundation
import TileGeometry
import TileStorage
import ZigguratImaging
import ZigguratTestSupport

/// 8-bit pixels in memory, bands side by side: what sources are made from and tiles are held against.
struct Picture: Equatable {
  let width: Int
  let height: Int
  let bands: Int
  var pixels: [UInt8]

  init(width: Int, height: Int, bands: Int, pixels: [UInt8]) {
    self.width = width
    self.height = height
    self.bands = bands
    self.pixels = pixels
  }

  /// Noise over a slope: neighbours differ, and so do far places. The last of 2 or 4 bands is alpha, with
  /// fully clear and fully opaque parts.
  init(width: Int, height: Int, bands: Int, seed: UInt64 = 7) {
    var random = SplitMix(seed &+ UInt64(width * 31 + height))
    var pixels = [UInt8](repeating: 0, count: width * height * bands)
    let hasAlpha = bands % 2 == 0
    for y in 0..<height {
      for x in 0..<width {
        var bits = random.next()
        let at = (y * width + x) * bands
        for band in 0..<bands {
          let slope = 200 * (band % 2 == 0 ? x : y) / (band % 2 == 0 ? width : height)
          pixels[at + band] = UInt8(slope + Int(bits & 0x1f) + 16)
          bits >>= 8
        }
        if hasAlpha { pixels[at + bands - 1] = [0, 255, UInt8(bits & 0xff)][(x / 40 + y / 30) % 3] }
      }
    }
    self.init(width: width, height: height, bands: bands, pixels: pixels)
  }

  init(_ image: Image) throws {
    var pixels = [UInt8](repeating: 0, count: image.width * image.height * image.bands)
    try pixels.withUnsafeMutableBufferPointer { buffer in
      try PixelReader(image).read(
        rows: image.height, from: 0, to: buffer.baseAddress!, stride: image.width * image.bands)
    }
    self.init(width: image.width, height: image.height, bands: image.bands, pixels: pixels)
  }

  init(file path: String) throws { try self.init(Image(path: path, access: .random)) }

  /// A whole level, put together from its tiles.
  init(level: Int, of archive: TileArchive) throws {
    let pyramid = archive.pyramid
    let size = pyramid.size(ofLevel: level)
    var whole: Picture?
    for row in 0..<pyramid.rows(ofLevel: level) {
      for column in 0..<pyramid.columns(ofLevel: level) {
        let tile = try archive.picture(TileAddress(level: level, column: column, row: row))
        if whole == nil {
          whole = Picture(
            width: size.width, height: size.height, bands: tile.bands,
            pixels: Array(repeating: 0, count: size.width * size.height * tile.bands))
        }
        whole!.paste(tile, x: column * pyramid.tileSize, y: row * pyramid.tileSize)
      }
    }
    self = whole!
  }

  private mutating func paste(_ tile: Picture, x: Int, y: Int) {
    for row in 0..<tile.height {
      let from = row * tile.width * bands
      let to = ((y + row) * width + x) * bands
      pixels.replaceSubrange(
        to..<to + tile.width * bands, with: tile.pixels[from..<from + tile.width * bands])
    }
  }

  var image: Image {
    pixels.withUnsafeBufferPointer {
      Image(
        copying: $0.baseAddress!, width: width, height: height, bands: PixelBands(rawValue: bands)!,
        stride: width * bands)
    }
  }

  func writePNG(_ path: String) throws {
    try Data(image.pngBytes()).write(to: URL(fileURLWithPath: path))
  }

  subscript(x: Int, y: Int) -> ArraySlice<UInt8> {
    let at = (y * width + x) * bands
    return pixels[at..<at + bands]
  }

  /// The largest difference of two bands; nil where the shapes differ.
  func difference(_ other: Picture) -> Int? {
    guard (width, height, bands) == (other.width, other.height, other.bands) else { return nil }
    if pixels == other.pixels { return 0 }
    return zip(pixels, other.pixels).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
  }
}

extension TileArchive {
  /// The decoded tile.
  func picture(_ address: TileAddress) throws -> Picture {
    guard let index = pyramid.index(of: address), let place = pyramid.rectangle(of: address),
      let bytes = tile(index)
    else {
      throw Tool.Failure(description: "\(address) is not in \(name)")
    }
    return try Picture(Image.tile(bytes, format, width: place.width, height: place.height))
  }

  func bytes(_ address: TileAddress) -> [UInt8]? {
    pyramid.index(of: address).flatMap { tile($0) }.map { Array($0) }
  }
}
