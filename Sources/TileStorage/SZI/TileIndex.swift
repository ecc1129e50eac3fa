import TileGeometry

/// The place of every tile of an archive, by tile index: 16 bytes each, found by arithmetic.
struct TileIndex: ~Copyable {
  struct Place {
    /// The position of the local header; `Int.max` if the archive has no such tile.
    var headerOffset: Int
    var size: UInt32
    var crc: UInt32
  }

  /// The size of a place in memory, in bytes.
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
