import ZigguratCDeflate

/// Inflates deflated units of a TIFF and undoes their predictor while copying the pixels, one pass less than libtiff.
/// For one thread.
final class TIFFInflater {
  private let decompressor: OpaquePointer
  private let isPredicted: Bool
  private let bands: Int
  /// The defect of the last stream.
  enum Flaw {
    case damage
    /// The stream continues after all of its pixels.
    case length
  }
  private(set) var flaw: Flaw?

  /// Returns the reason why a file is damaged, for pixels that are decoded nevertheless.
  static func reason(_ unit: String) -> String {
    "the TIFF file is damaged: the checksum of \(unit) does not match its pixels"
  }

  /// Bytes beyond a unit: a vector of four bytes may begin at its last byte.
  static let slack = 4

  /// - Parameter isPredicted: whether each sample is the difference to the previous pixel (TIFF 6.0, section 14).
  init?(isPredicted: Bool, bands: Int) {
    guard let decompressor = libdeflate_alloc_decompressor() else { return nil }
    self.decompressor = decompressor
    self.isPredicted = isPredicted
    self.bands = bands
  }

  deinit { libdeflate_free_decompressor(decompressor) }

  /// - Parameters:
  ///   - data: a zlib stream.
  ///   - pixels: space for `rows` rows of `rowSize` bytes, and `slack` more.
  ///   - stride: bytes between the rows of `base`; nothing is written between them.
  /// - Returns: false if the stream is damaged or has another number of bytes.
  func inflate(
    _ data: UnsafeRawBufferPointer, by pixels: UnsafeMutablePointer<UInt8>, rows: Int, rowSize: Int,
    to base: UnsafeMutablePointer<UInt8>, stride: Int
  ) -> Bool {
    // Without a variable for the count, another length is an error.
    let code = libdeflate_zlib_decompress(
      decompressor, data.baseAddress, data.count, pixels, rows * rowSize, nil)
    flaw =
      code == LIBDEFLATE_BAD_DATA ? .damage : code == LIBDEFLATE_INSUFFICIENT_SPACE ? .length : nil
    guard code == LIBDEFLATE_SUCCESS else { return false }
    for y in 0..<rows {
      let (from, to) = (pixels + y * rowSize, base + y * stride)
      switch (isPredicted, bands) {
      case (false, _): to.update(from: from, count: rowSize)
      case (true, 3): Self.addUpPixels(from, to, rowSize)
      case (true, _): Self.addUp(from, to, rowSize, bands)
      }
    }
    return true
  }

  private static func addUp(
    _ row: UnsafePointer<UInt8>, _ out: UnsafeMutablePointer<UInt8>, _ count: Int, _ bands: Int
  ) {
    for i in 0..<min(bands, count) { out[i] = row[i] }
    for i in min(bands, count)..<count { out[i] = row[i] &+ out[i - bands] }
  }

  /// Adds up three bands at a time; the next pixel overwrites the fourth lane.
  private static func addUpPixels(
    _ row: UnsafePointer<UInt8>, _ out: UnsafeMutablePointer<UInt8>, _ count: Int
  ) {
    var left = SIMD4<UInt8>()
    var at = 0
    while at < count - 3 {
      left = left &+ UnsafeRawPointer(row + at).loadUnaligned(as: SIMD4<UInt8>.self)
      UnsafeMutableRawPointer(out + at).storeBytes(of: left, as: SIMD4<UInt8>.self)
      at &+= 3
    }
    for lane in 0..<3 { out[at + lane] = row[at + lane] &+ left[lane] }
  }
}
