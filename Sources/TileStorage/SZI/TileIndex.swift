import TileGeometry

/// Where every tile of an archive lies, by tile index: 16 bytes each, looked up by arithmetic.
struct TileIndex: ~Copyable {
  struct Place {
    /// Of the local header; `Int.max` where the archive has no such tile.
    var headerOffset: Int
    var size: UInt32
    var crc: UInt32
  }

  /// Bytes of a place in memory.
  static let placeSize = MemoryLayout<Place>.stride

  let places: UnsafeMutableBufferPointer<Place>
  let grid: TileGrid

  init(_ pyramid: Pyramid) {
    places = .allocate(capacity: pyramid.tileCount)
    grid = TileGrid(pyramid)
    places.initialize(repeating: Place(headerOffset: .max, size: 0, crc: 0))
  }

  deinit { places.deallocate() }
}
