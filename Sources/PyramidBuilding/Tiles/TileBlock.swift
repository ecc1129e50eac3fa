import ZigguratImaging

/// How the planes of one tile lie in a block of memory.
struct TileBlock {
  let layout: PixelLayout
  let tileSize: Int
  let byteCount: Int
  private let offsets: (Int, Int)

  /// Rows are not a power of two apart, which would put them all in the same few lines of a cache.
  private static let padding = 64

  init(_ layout: PixelLayout, tileSize: Int) {
    self.layout = layout
    self.tileSize = tileSize
    func size(_ plane: Int) -> Int {
      guard plane < layout.planeCount else { return 0 }
      return Self.stride(layout, tileSize, plane) * (tileSize / layout.subsampling(ofPlane: plane))
    }
    offsets = (size(0), size(0) + size(1))
    byteCount = offsets.1 + size(2)
  }

  private static func stride(_ layout: PixelLayout, _ tileSize: Int, _ plane: Int) -> Int {
    tileSize / layout.subsampling(ofPlane: plane) * layout.bandsPerPlane + padding
  }

  /// The planes in the block that begins at `base`; those that the layout has not are the first.
  func planes(at base: UnsafeMutablePointer<UInt8>) -> (Plane, Plane, Plane) {
    let first = Plane(base: base, stride: Self.stride(layout, tileSize, 0))
    guard layout.planeCount > 1 else { return (first, first, first) }
    let stride = Self.stride(layout, tileSize, 1)
    return (
      first, Plane(base: base + offsets.0, stride: stride), Plane(base: base + offsets.1, stride: stride)
    )
  }
}

/// Memory for the pixels of one tile, for its owner alone.
final class TileBuffer {
  let block: TileBlock
  private let base: UnsafeMutablePointer<UInt8>

  init(_ layout: PixelLayout, tileSize: Int) {
    block = TileBlock(layout, tileSize: tileSize)
    base = .allocate(capacity: block.byteCount)
  }

  deinit { base.deallocate() }

  func pixels(width: Int, height: Int) -> TilePixels {
    TilePixels(block.layout, width: width, height: height, planes: block.planes(at: base))
  }
}

/// Blocks of memory of one size, used again and again. For one thread at a time.
final class BlockPool {
  let byteCount: Int
  private var free: [UnsafeMutablePointer<UInt8>] = []

  init(byteCount: Int) { self.byteCount = byteCount }

  deinit { for block in free { block.deallocate() } }

  /// The block that was given back last, which is most likely still in a cache.
  func take() -> UnsafeMutablePointer<UInt8> { free.popLast() ?? .allocate(capacity: byteCount) }

  func give(_ block: UnsafeMutablePointer<UInt8>) { free.append(block) }
}
