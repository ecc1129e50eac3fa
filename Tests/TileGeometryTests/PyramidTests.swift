import Testing
import TileGeometry

struct PyramidTests {
  /// Levels, grids and rectangles by the definitions, without arithmetic: a side is halved by counting
  /// pairs, a tile holds every pixel that is at most `overlap` away from one of its own.
  struct Oracle {
    /// From 1×1 up to full resolution.
    var levels: [(width: Int, height: Int)] = []
    let tileSize: Int
    let overlap: Int

    init(width: Int, height: Int, tileSize: Int, overlap: Int) {
      self.tileSize = tileSize
      self.overlap = overlap
      levels = [(width, height)]
      while levels[0] != (1, 1) {
        levels.insert((Self.pairs(levels[0].width), Self.pairs(levels[0].height)), at: 0)
      }
    }

    private static func pairs(_ length: Int) -> Int {
      var count = 0
      for _ in stride(from: 0, to: length, by: 2) { count += 1 }
      return count
    }

    func spans(_ length: Int) -> [(start: Int, length: Int)] {
      stride(from: 0, to: length, by: tileSize).map { first in
        let own = first..<min(first + tileSize, length)
        let held = (0..<length).filter { pixel in own.contains { abs($0 - pixel) <= overlap } }
        return (held[0], held.count)
      }
    }
  }

  private static let grids: [(tileSize: Int, overlap: Int)] = [
    (2, 0), (2, 1), (3, 0), (3, 2), (4, 1), (5, 3), (7, 0), (8, 7), (16, 0), (16, 2), (33, 1), (64, 0),
    (69, 1),
    (70, 1), (71, 70), (512, 0),
  ]

  @Test("every tile of every size from 1×1 to 70×70 matches the definition", arguments: grids)
  func everyTile(tileSize: Int, overlap: Int) throws {
    let spans = (0...70).map {
      Oracle(width: 1, height: 1, tileSize: tileSize, overlap: overlap).spans($0)
    }
    var errors = 0
    for width in 1...70 {
      for height in 1...70 {
        let size = PixelSize(width: width, height: height)!
        let pyramid = try #require(Pyramid(imageSize: size, tileSize: tileSize, overlap: overlap))
        let oracle = Oracle(width: width, height: height, tileSize: tileSize, overlap: overlap)
        if pyramid.levelCount != oracle.levels.count { errors += 1 }
        var index = 0
        for (level, side) in oracle.levels.enumerated() {
          let (across, down) = (spans[side.width], spans[side.height])
          if pyramid.size(ofLevel: level) != PixelSize(width: side.width, height: side.height)! {
            errors += 1
          }
          if pyramid.columns(ofLevel: level) != across.count { errors += 1 }
          if pyramid.rows(ofLevel: level) != down.count { errors += 1 }
          if pyramid.firstIndex(ofLevel: level) != index { errors += 1 }
          for (row, y) in down.enumerated() {
            for (column, x) in across.enumerated() {
              let address = TileAddress(level: level, column: column, row: row)
              let wanted = PixelRect(x: x.start, y: y.start, width: x.length, height: y.length)
              if pyramid.rectangle(of: address) != wanted { errors += 1 }
              if pyramid.index(of: address) != index || pyramid.address(at: index) != address { errors += 1 }
              index += 1
            }
          }
        }
        if pyramid.tileCount != index { errors += 1 }
        if errors > 0 {
          Issue.record("\(width)×\(height), tiles of \(tileSize) with overlap \(overlap): \(errors) errors")
          return
        }
      }
    }
  }

  @Test("tiles of one pixel are the pixels themselves", arguments: [(1, 1), (24, 17), (5, 1), (1, 9)])
  func onePixelTiles(width: Int, height: Int) throws {
    let pyramid = try #require(Pyramid(imageSize: PixelSize(width: width, height: height)!, tileSize: 1))
    var seen: Set<TileAddress> = []
    for index in 0..<pyramid.tileCount {
      let address = try #require(pyramid.address(at: index))
      seen.insert(address)
      #expect(
        pyramid.rectangle(of: address)
          == PixelRect(x: address.column, y: address.row, width: 1, height: 1))
    }
    #expect(seen.count == pyramid.tileCount)
  }

  @Test("without overlap, the tiles of a level have each pixel once")
  func partition() throws {
    for (width, height, tileSize) in [(70, 33, 8), (129, 64, 64), (5, 300, 7), (64, 64, 64)] {
      let pyramid = try #require(
        Pyramid(imageSize: PixelSize(width: width, height: height)!, tileSize: tileSize))
      for level in 0..<pyramid.levelCount {
        let size = pyramid.size(ofLevel: level)
        var held = [Int](repeating: 0, count: size.width * size.height)
        for row in 0..<pyramid.rows(ofLevel: level) {
          for column in 0..<pyramid.columns(ofLevel: level) {
            let tile = try #require(
              pyramid.rectangle(of: TileAddress(level: level, column: column, row: row)))
            for y in tile.y..<tile.y + tile.height {
              for x in tile.x..<tile.x + tile.width { held[y * size.width + x] += 1 }
            }
          }
        }
        #expect(held.allSatisfy { $0 == 1 }, "\(width)×\(height), tiles of \(tileSize), level \(level)")
      }
    }
  }

  @Test("a last tile that has only overlap exists")
  func overlapOnly() throws {
    let pyramid = try #require(
      Pyramid(imageSize: PixelSize(width: 255, height: 254)!, tileSize: 254, overlap: 1))
    #expect(pyramid.columns(ofLevel: 8) == 2)
    #expect(pyramid.rows(ofLevel: 8) == 1)
    #expect(
      pyramid.rectangle(of: TileAddress(level: 8, column: 0, row: 0))
        == PixelRect(x: 0, y: 0, width: 255, height: 254))
    #expect(
      pyramid.rectangle(of: TileAddress(level: 8, column: 1, row: 0))
        == PixelRect(x: 253, y: 0, width: 2, height: 254))
  }

  @Test("outside the pyramid there is no tile, no rectangle and no index")
  func outside() throws {
    let pyramid = try #require(Pyramid(imageSize: PixelSize(width: 1025, height: 513)!, tileSize: 512))
    let top = pyramid.topLevel
    for (level, column, row) in [
      (-1, 0, 0), (top + 1, 0, 0), (top, 3, 0), (top, 0, 2), (top, -1, 0), (top, 0, -1), (0, 1, 0), (0, 0, 1),
      (.max, 0, 0), (.min, 0, 0), (top, .max, .max), (top, .min, 0),
    ] {
      let address = TileAddress(level: level, column: column, row: row)
      #expect(!pyramid.contains(address))
      #expect(pyramid.rectangle(of: address) == nil)
      #expect(pyramid.index(of: address) == nil)
    }
    for index in [-1, .min, pyramid.tileCount, .max] { #expect(pyramid.address(at: index) == nil) }
  }

  @Test("an impossible pyramid is nil")
  func refused() {
    let size = PixelSize(width: 10, height: 10)!
    let huge = PixelSize(width: .max, height: .max)!
    for (size, tileSize, overlap) in [
      (size, 0, 0), (size, -1, 0), (size, 512, -1), (size, 8, 8), (size, .min, 0), (huge, 1, 0), (huge, 2, 0),
      (huge, 512, 0),
    ] {
      #expect(Pyramid(imageSize: size, tileSize: tileSize, overlap: overlap) == nil)
    }
    for (width, height) in [(0, 1), (1, 0), (-5, 7), (.min, 1)] {
      #expect(PixelSize(width: width, height: height) == nil)
    }
  }

  @Test("the number of levels is right around each power of two up to 2^40", arguments: 1...40)
  func powersOfTwo(exponent: Int) throws {
    let power = 1 << exponent
    for (side, levels) in [(power - 1, exponent + 1), (power, exponent + 1), (power + 1, exponent + 2)] {
      // 1 has one level, not two.
      let levels = side == 1 ? 1 : levels
      #expect(Pyramid.levelCount(ofLongerSide: side) == levels)
      for (width, height) in [(side, side), (side, 1), (1, side), (side, side / 2 + 1)] {
        let size = try #require(PixelSize(width: width, height: height))
        let pyramid = try #require(Pyramid(imageSize: size, tileSize: 512))
        #expect(pyramid.levelCount == levels)
        var (levelWidth, levelHeight) = (width, height)
        for level in (0..<levels).reversed() {
          #expect(pyramid.size(ofLevel: level) == PixelSize(width: levelWidth, height: levelHeight))
          #expect(pyramid.columns(ofLevel: level) == (levelWidth + 511) / 512)
          (levelWidth, levelHeight) = ((levelWidth + 1) / 2, (levelHeight + 1) / 2)
        }
        #expect((levelWidth, levelHeight) == (1, 1))
        let last = TileAddress(
          level: levels - 1, column: (width - 1) / 512, row: (height - 1) / 512)
        #expect(pyramid.index(of: last) == pyramid.tileCount - 1)
        #expect(pyramid.address(at: pyramid.tileCount - 1) == last)
        let rectangle = try #require(pyramid.rectangle(of: last))
        #expect(rectangle.x + rectangle.width == width)
        #expect(rectangle.y + rectangle.height == height)
      }
    }
  }

  @Test("indexes and addresses are inverses at the extremes of gigantic pyramids")
  func hugeRoundTrips() throws {
    for (width, height, tileSize, overlap) in [
      (1 << 31, 1 << 31, 512, 0), (1 << 40, 1 << 40, 8192, 1), ((1 << 31) - 1, 1, 64, 0), (.max, 1, 254, 1),
    ] {
      let pyramid = try #require(
        Pyramid(imageSize: PixelSize(width: width, height: height)!, tileSize: tileSize, overlap: overlap))
      for level in 0..<pyramid.levelCount {
        let first = pyramid.firstIndex(ofLevel: level)
        let count = pyramid.columns(ofLevel: level) * pyramid.rows(ofLevel: level)
        for index in Set([first, first + count / 3, first + count - 1]) {
          let address = try #require(pyramid.address(at: index))
          #expect(address.level == level)
          #expect(pyramid.index(of: address) == index)
          let rectangle = try #require(pyramid.rectangle(of: address))
          let size = pyramid.size(ofLevel: level)
          #expect(rectangle.x >= 0 && rectangle.x + rectangle.width <= size.width)
          #expect(rectangle.y >= 0 && rectangle.y + rectangle.height <= size.height)
        }
      }
    }
  }

  @Test("the level for a scale is the coarsest that is fine enough")
  func levelForScale() throws {
    let pyramid = try #require(Pyramid(imageSize: PixelSize(width: 1 << 31, height: 77)!, tileSize: 512))
    for level in 0...pyramid.topLevel {
      let exact = pyramid.scale(ofLevel: level)
      #expect(pyramid.level(forScale: exact) == level)
      #expect(pyramid.level(forScale: exact.nextDown) == level)
      #expect(pyramid.level(forScale: exact.nextUp) == min(level + 1, pyramid.topLevel))
      #expect(exact * Double(1 << pyramid.shift(ofLevel: level)) == 1)
    }
    for scale in [0.500_000_001, 0.75, 1, 2, 1e300, .infinity] {
      #expect(pyramid.level(forScale: scale) == pyramid.topLevel)
    }
    for scale in [Double.leastNonzeroMagnitude, 1e-300, 1e-12] {
      #expect(pyramid.level(forScale: scale) == 0)
    }
  }
}
