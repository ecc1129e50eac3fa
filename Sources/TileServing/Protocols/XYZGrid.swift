import TileGeometry

/// An image's tiles as XYZ counts them: z 0 is the finest level that one tile holds, every tile is full
/// size, those at the right and lower edges padded with the background.
struct XYZGrid {
  let pyramid: Pyramid
  /// The pyramid's level that is z 0.
  let baseLevel: Int

  init(_ pyramid: Pyramid) {
    self.pyramid = pyramid
    baseLevel = pyramid.finestSingleTileLevel
  }

  var maximumZ: Int { pyramid.topLevel - baseLevel }

  /// Nil outside the grid. The level's own pixels of the tile are at its top left.
  func address(z: Int, x: Int, y: Int) -> TileAddress? {
    guard z >= 0, z <= maximumZ else { return nil }
    let address = TileAddress(level: baseLevel + z, column: x, row: y)
    return pyramid.contains(address) ? address : nil
  }

  /// The stored tile that is the very tile asked for: without overlap, and full without padding.
  func storedAddress(z: Int, x: Int, y: Int) -> TileAddress? {
    guard pyramid.overlap == 0, let address = address(z: z, x: x, y: y) else { return nil }
    let (size, side) = (pyramid.size(ofLevel: address.level), pyramid.tileSize)
    return size.width - x * side >= side && size.height - y * side >= side ? address : nil
  }
}

/// An XYZ tile's URL taken apart without making a string: `/xyz/{id}/{z}/{x}/{y}.{ext}`.
struct XYZRequest {
  /// As sent, percent-encoded.
  let id: UnsafeRawBufferPointer
  let z: Int
  let x: Int
  let y: Int
  let fileExtension: UnsafeRawBufferPointer

  /// Nil for any other path.
  init?(_ path: UnsafeRawBufferPointer) {
    guard path.count > 12, path.starts(with: Self.root),
      let dot = TileRequest.last(UInt8(ascii: "."), in: path, before: path.count)
    else { return nil }
    // From the end, since an id may hold slashes.
    var at = dot
    guard let y = TileRequest.number(path, endingAt: &at, after: UInt8(ascii: "/")),
      let x = TileRequest.number(path, endingAt: &at, after: UInt8(ascii: "/")),
      let z = TileRequest.number(path, endingAt: &at, after: UInt8(ascii: "/")),
      at > Self.root.utf8CodeUnitCount
    else { return nil }
    (self.z, self.x, self.y) = (z, x, y)
    fileExtension = UnsafeRawBufferPointer(rebasing: path[(dot + 1)...])
    id = UnsafeRawBufferPointer(rebasing: path[Self.root.utf8CodeUnitCount..<at])
  }

  private static let root: StaticString = "/xyz/"
}
