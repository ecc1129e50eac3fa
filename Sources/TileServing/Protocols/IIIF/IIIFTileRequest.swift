import TileGeometry

/// The URL of an image request that may be a stored tile, taken apart without making a string:
/// `/iiif/{2|3}/{id}/{region}/{w,h or w,}/0/default.{ext}`, as viewers ask for tiles. `max` and `full` go the way
/// with words.
struct IIIFTileRequest {
  /// As sent, percent-encoded.
  let id: UnsafeRawBufferPointer
  let fileExtension: UnsafeRawBufferPointer
  private let isThree: Bool
  private let isFull: Bool
  private let x: Int
  private let y: Int
  private let width: Int
  private let height: Int
  private let sizeWidth: Int
  /// 0: as it follows from the width.
  private let sizeHeight: Int

  /// Nil for any other path, and for requests that no stored tile can answer.
  init?(_ path: UnsafeRawBufferPointer) {
    guard path.count > 24, path.starts(with: "/iiif/"), path[6] == 0x32 || path[6] == 0x33, path[7] == 0x2f
    else { return nil }
    isThree = path[6] == 0x33
    guard let dot = TileRequest.last(UInt8(ascii: "."), in: path, before: path.count) else { return nil }
    fileExtension = UnsafeRawBufferPointer(rebasing: path[(dot + 1)...])
    let tail: StaticString = "/0/default"
    var at = dot - tail.utf8CodeUnitCount
    guard at > 8, UnsafeRawBufferPointer(rebasing: path[at..<dot]).starts(with: tail) else { return nil }
    // The size, from its end.
    if path[at - 1] == UInt8(ascii: ",") {
      at -= 1
      guard let width = TileRequest.number(path, endingAt: &at, after: UInt8(ascii: "/")), width > 0 else {
        return nil
      }
      (sizeWidth, sizeHeight) = (width, 0)
    } else if let height = TileRequest.number(path, endingAt: &at, after: UInt8(ascii: ",")) {
      guard let width = TileRequest.number(path, endingAt: &at, after: UInt8(ascii: "/")), width > 0,
        height > 0
      else { return nil }
      (sizeWidth, sizeHeight) = (width, height)
    } else {
      return nil
    }
    // The region.
    let full: StaticString = "/full"
    if at > 8 + 5, UnsafeRawBufferPointer(rebasing: path[(at - 5)..<at]).starts(with: full) {
      at -= 5
      (isFull, x, y, width, height) = (true, 0, 0, 0, 0)
    } else {
      let comma = UInt8(ascii: ",")
      guard let height = TileRequest.number(path, endingAt: &at, after: comma),
        let width = TileRequest.number(path, endingAt: &at, after: comma),
        let y = TileRequest.number(path, endingAt: &at, after: comma),
        let x = TileRequest.number(path, endingAt: &at, after: UInt8(ascii: "/"))
      else { return nil }
      (isFull, self.x, self.y, self.width, self.height) = (false, x, y, width, height)
    }
    guard at > 8 else { return nil }
    id = UnsafeRawBufferPointer(rebasing: path[8..<at])
  }

  /// The tile of that pyramid that answers it, or nil off the grid.
  func address(in pyramid: Pyramid) -> TileAddress? {
    let image = pyramid.imageSize
    guard isFull || (x < image.width && y < image.height) else { return nil }
    let width = isFull ? image.width : min(width, image.width - x)
    let height = isFull ? image.height : min(height, image.height - y)
    return IIIFGrid.tile(
      pyramid, x: x, y: y, width: width, height: height, sizeWidth: sizeWidth,
      sizeHeight: sizeHeight == 0 ? nil : sizeHeight)
  }

  /// - Parameter address: the tile's.
  func link(to address: TileAddress, in pyramid: Pyramid) -> IIIFTileLink {
    let image = pyramid.imageSize
    let region =
      isFull
      ? (x: 0, y: 0, width: image.width, height: image.height)
      : (x: x, y: y, width: min(width, image.width - x), height: min(height, image.height - y))
    let isAll = region.width == image.width && region.height == image.height
    let rows = Pyramid.halved(region.height, times: pyramid.topLevel - address.level)
    let isWhole = sizeWidth == region.width && rows == region.height
    // 2.1 leaves out a height that keeps the proportions, 3.0 has both.
    let follows = (2 * region.height * sizeWidth + region.width) / (2 * region.width)
    return IIIFTileLink(
      isThree: isThree, id: id, region: isAll ? nil : region, width: isWhole ? nil : sizeWidth,
      height: !isThree && max(1, follows) == rows ? nil : rows, fileExtension: fileExtension)
  }
}
