import Testing
import TileGeometry

/// Windows whose edges lie exactly on tiles' edges: no rounding decides there, and touching is not meeting.
struct TouchingEdgesTests {
  /// Every window of whole image pixels on a small image, by pixels shared.
  @Test("windows on whole pixels have the tiles that they share a pixel with", arguments: [1.0, 2, 4, 0.5])
  func wholePixels(scale: Double) throws {
    let image = PixelSize(width: 11, height: 7)!
    let pyramid = try #require(Pyramid(imageSize: image, tileSize: 3))
    let unit = 1 << (pyramid.topLevel - pyramid.level(forScale: scale))
    for left in -4...12 {
      for width in 1...14 {
        for (top, height) in [(-3, 3), (-3, 4), (0, 3), (2, 1), (3, 3), (2, 5), (6, 1), (7, 2)] {
          let viewport = Viewport(
            width: Double(width) * scale, height: Double(height) * scale, scale: scale,
            x: Double(left) * scale, y: Double(top) * scale)
          let coverage = Coverage(pyramid: pyramid, viewport: viewport)
          var wanted: Set<TileAddress> = []
          for y in top..<top + height where (0..<7).contains(y) {
            for x in left..<left + width where (0..<11).contains(x) {
              wanted.insert(
                TileAddress(level: coverage.level, column: x / unit / 3, row: y / unit / 3))
            }
          }
          #expect(
            Set(coverage.tiles().map(\.address)) == wanted, "\(width)×\(height) at \(left), \(top)")
          #expect((coverage.visible == nil) == wanted.isEmpty)
        }
      }
    }
  }

  @Test("a window that touches the image from outside has no tiles", arguments: [0.0, 90, 180, 270, -90])
  func outside(degrees: Double) throws {
    let image = PixelSize(width: 1024, height: 1024)!
    let pyramid = try #require(Pyramid(imageSize: image, tileSize: 256))
    let rotation = Rotation(degrees: degrees)
    for (x, y) in [(-100.0, 300.0), (1024, 300), (300, -100), (300, 1024), (-100, -100), (1024, 1024)] {
      let viewport = Viewport(width: 100, height: 100, scale: 1, x: x, y: y, rotation: rotation)
      let coverage = Coverage(pyramid: pyramid, viewport: viewport)
      #expect(coverage.visible == nil)
      #expect(coverage.tiles(margin: 3).isEmpty)
      #expect(coverage.fallbackTiles().isEmpty)
    }
  }

  @Test("a rotation by 90° swaps the window's sides about its centre")
  func quarterTurn() throws {
    let pyramid = try #require(Pyramid(imageSize: PixelSize(width: 2048, height: 2048)!, tileSize: 256))
    // Upright it would hold columns 1…6 of row 3; lying it holds rows 1…6 of column 3.
    let viewport = Viewport(
      width: 1536, height: 256, scale: 1, x: 128, y: 896, rotation: Rotation(degrees: 90))
    let tiles = Coverage(pyramid: pyramid, viewport: viewport).tiles()
    #expect(Set(tiles.map(\.address.column)) == [3])
    #expect(tiles.map(\.address.row).sorted() == [1, 2, 3, 4, 5, 6])
  }

  @Test("a window far outside has no tiles and can be moved back, for any numbers")
  func extremes() throws {
    let pyramid = try #require(Pyramid(imageSize: PixelSize(width: 1 << 31, height: 1 << 31)!, tileSize: 512))
    for scale in [1e-12, 1e-6, 1, 1e6] {
      for degrees in [0.0, 33, 90] {
        for (x, y) in [(1e15, 0.0), (-1e15, 0), (0, 1e15), (0, -1e15), (1e15, -1e15)] {
          let viewport = Viewport(
            width: 32768, height: 32768, scale: scale, x: x, y: y, rotation: Rotation(degrees: degrees))
          let coverage = Coverage(pyramid: pyramid, viewport: viewport)
          let extent = 2_147_483_648 * scale + 65536
          if extent < 1e15 { #expect(coverage.count(margin: 64) == 0) }
        }
      }
    }
  }

  @Test("the smallest window on the smallest image has one tile")
  func onePixel() throws {
    let pyramid = try #require(Pyramid(imageSize: PixelSize(width: 1, height: 1)!, tileSize: 512))
    let inside = Viewport(width: 1, height: 1, scale: 1e6, x: 999_999, y: 999_999)
    #expect(Coverage(pyramid: pyramid, viewport: inside).tiles().count == 1)
    let outside = Viewport(width: 1, height: 1, scale: 1e6, x: 1_000_000, y: 999_999)
    #expect(Coverage(pyramid: pyramid, viewport: outside).tiles().isEmpty)
  }

  @Test("overlap widens the tiles, and does not change which ones are requested")
  func overlap() throws {
    let image = PixelSize(width: 1000, height: 1000)!
    let plain = try #require(Pyramid(imageSize: image, tileSize: 254))
    let lapped = try #require(Pyramid(imageSize: image, tileSize: 254, overlap: 1))
    let viewport = Viewport(width: 254, height: 254, scale: 1, x: 254, y: 254)
    let tiles = Coverage(pyramid: lapped, viewport: viewport).tiles()
    #expect(tiles.map(\.address) == Coverage(pyramid: plain, viewport: viewport).tiles().map(\.address))
    #expect(tiles.map(\.source) == [PixelRect(x: 253, y: 253, width: 256, height: 256)])
    #expect(tiles.map(\.target) == [Rect(x: -1, y: -1, width: 256, height: 256)])
  }
}
