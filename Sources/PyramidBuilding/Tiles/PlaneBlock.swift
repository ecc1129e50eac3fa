import ZigguratImaging

/// The arrangement of planes of pixels in a block of memory.
struct PlaneBlock {
  let layout: PixelLayout
  let byteCount: Int
  private let width: Int
  private let offsets: (Int, Int)

  /// JPEG decoders fill whole blocks, of up to 32 columns. And rows are not a power of two apart, which would put them
  /// all in the same few lines of a cache.
  private static let padding = 64

  init(_ layout: PixelLayout, width: Int, height: Int) {
    self.layout = layout
    self.width = width
    func size(_ plane: Int) -> Int {
      guard plane < layout.planeCount else { return 0 }
      let step = layout.subsampling(ofPlane: plane)
      return Self.stride(layout, width, plane) * ((height + step - 1) / step)
    }
    offsets = (size(0), size(0) + size(1))
    byteCount = offsets.1 + size(2)
  }

  private static func stride(_ layout: PixelLayout, _ width: Int, _ plane: Int) -> Int {
    let step = layout.subsampling(ofPlane: plane)
    return (width + step - 1) / step * layout.bandsPerPlane + padding
  }

  /// The planes in the block that begins at `base`.
  func planes(at base: UnsafeMutablePointer<UInt8>) -> Planes {
    let first = Plane(base: base, stride: Self.stride(layout, width, 0))
    guard layout.planeCount > 1 else { return Planes(first, first, first) }
    let stride = Self.stride(layout, width, 1)
    return Planes(
      first, Plane(base: base + offsets.0, stride: stride), Plane(base: base + offsets.1, stride: stride))
  }
}

/// Memory for the planes of one tile, or of one call of a decoder, owned exclusively.
final class PlaneBuffer {
  let planes: Planes
  /// The number of rows that it holds.
  let height: Int
  private let layout: PixelLayout
  private let base: UnsafeMutablePointer<UInt8>

  init(_ layout: PixelLayout, width: Int, height: Int) {
    self.layout = layout
    self.height = height
    let block = PlaneBlock(layout, width: width, height: height)
    base = .allocate(capacity: block.byteCount)
    planes = block.planes(at: base)
  }

  deinit { base.deallocate() }

  func pixels(width: Int, height: Int) -> TilePixels {
    TilePixels(layout, width: width, height: height, planes: planes)
  }
}

/// Blocks of memory of one size, used again and again. For one thread at a time.
final class BlockPool {
  private let byteCount: Int
  private var free: [UnsafeMutablePointer<UInt8>] = []

  init(byteCount: Int) { self.byteCount = byteCount }

  deinit { for block in free { block.deallocate() } }

  /// The block that was given back last, which is most likely still in a cache.
  func take() -> UnsafeMutablePointer<UInt8> { free.popLast() ?? .allocate(capacity: byteCount) }

  func give(_ block: UnsafeMutablePointer<UInt8>) { free.append(block) }
}
