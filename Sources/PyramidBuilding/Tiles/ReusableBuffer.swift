import ZigguratImaging

/// Bytes that stay where they are until the next ones come. For one thread at a time; its memory is used again.
final class ReusableBuffer {
  private(set) var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

  deinit { memory.deallocate() }

  /// Makes room for `count` bytes; those that are kept are lost if there was less.
  func reserve(_ count: Int) {
    guard memory.count < count else { return }
    memory.deallocate()
    memory = .allocate(byteCount: count + count / 4, alignment: 16)
  }

  func keep(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    reserve(bytes.count)
    memory.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(rebasing: memory[..<bytes.count])
  }
}

/// The rows of a tile without gaps. For one thread at a time.
final class PackedRows {
  private let memory: UnsafeMutablePointer<UInt8>

  /// - Parameter tileSize: the largest width and height of a tile.
  init(bands: PixelBands, tileSize: Int) { memory = .allocate(capacity: tileSize * tileSize * bands.count) }

  deinit { memory.deallocate() }

  /// Returns the rows of a tile of one plane, valid until the next call.
  func pack(_ tile: TilePixels) -> UnsafeRawBufferPointer {
    let (plane, rowSize) = (tile[0], tile.width * tile.layout.bandsPerPlane)
    for y in 0..<tile.height {
      (memory + y * rowSize).update(from: plane.base + y * plane.stride, count: rowSize)
    }
    return UnsafeRawBufferPointer(start: memory, count: tile.height * rowSize)
  }
}
