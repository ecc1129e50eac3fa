import ZigguratCJPEGStream

/// Writes tiles of DCT coefficients as JPEG files. For one thread at a time.
final class JPEGTileWriter {
  private let subject: String
  private let pointer: OpaquePointer

  /// - Parameter info: of the file that the coefficients come from.
  init(_ info: js_info, of subject: String) throws(BuildError) {
    var info = info
    guard let pointer = js_tile_writer_new(&info) else {
      throw BuildError(subject, "no memory for a JPEG encoder", isTemporary: true)
    }
    self.subject = subject
    self.pointer = pointer
  }

  deinit { js_tile_writer_free(pointer) }

  /// Returns a tile of so many pixels, valid until the next call.
  ///
  /// - Parameter stride: blocks from one row of MCUs to the next.
  func write(
    _ blocks: UnsafePointer<Int16>, stride: Int, width: Int, height: Int
  ) throws(BuildError) -> UnsafeRawBufferPointer {
    var bytes: UnsafePointer<UInt8>?
    var size = 0
    try JPEGFile.check(subject) {
      js_tile_write(pointer, blocks, stride, Int32(width), Int32(height), &bytes, &size, $0)
    }
    return UnsafeRawBufferPointer(start: bytes, count: size)
  }
}
