import ZigguratCVips

/// Reads the pixels of an image into memory of the caller's, rows from top to bottom.
///
/// Bound to the thread that made it, as libvips' regions are.
package final class PixelReader {
  private let image: Image
  private let region: UnsafeMutablePointer<VipsRegion>

  /// - Parameter image: of unsigned bytes.
  package init(_ image: Image) {
    precondition(image.isBytes, "pixels are read as bytes")
    self.image = image
    region = vips_region_new(image.pointer)
  }

  deinit { g_object_unref(region) }

  /// Copies rows `y`..<`y + count` to `base`, `stride` bytes apart, bands interleaved.
  package func read(
    rows count: Int, from y: Int, to base: UnsafeMutablePointer<UInt8>, stride: Int
  ) throws(ImagingError) {
    let rowBytes = image.width * image.bands
    var area = VipsRect(left: 0, top: Int32(y), width: Int32(image.width), height: Int32(count))
    guard vips_region_prepare(region, &area) == 0 else { throw ImagingError.take("read", image.subject) }
    // VIPS_REGION_ADDR is a macro; these are its fields.
    let origin = region.pointee.valid
    let source =
      region.pointee.data + (y - Int(origin.top)) * Int(region.pointee.bpl)
      - Int(origin.left) * image.bands
    for row in 0..<count {
      (base + row * stride).update(from: source + row * Int(region.pointee.bpl), count: rowBytes)
    }
  }
}

extension Image {
  /// Reads and discards every pixel. A decoding failure is an error.
  package func decodeAll() throws(ImagingError) {
    try forEachRow(to: "decode") { _ in true }
  }
}
