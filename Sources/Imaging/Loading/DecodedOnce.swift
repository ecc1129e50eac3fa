import Glibc
import Synchronization

/// The pixels of a picture that a library decodes whole, when the first of them is asked for.
final class DecodedOnce: PixelSupply {
  // Sendable: only the decoder writes the pixels, before they are shared.
  final class Pixels: @unchecked Sendable {
    let base: UnsafeMutablePointer<UInt8>

    /// - Parameter base: allocated by malloc(3), whose owner this becomes.
    init(_ base: UnsafeMutablePointer<UInt8>) { self.base = base }

    deinit { free(base) }
  }

  private let rowSize, pixelSize: Int
  private let decode: @Sendable () throws(ImagingError) -> Pixels
  private let pixels = Mutex<Pixels?>(nil)

  /// - Parameters:
  ///   - width: pixels of a row.
  ///   - bands: bytes of a pixel.
  ///   - decode: returns every row, without gaps.
  init(width: Int, bands: Int, decode: @escaping @Sendable () throws(ImagingError) -> Pixels) {
    rowSize = width * bands
    pixelSize = bands
    self.decode = decode
  }

  func fill(
    _ base: UnsafeMutableRawPointer, stride: Int, x: Int, y: Int, width: Int, height: Int
  ) throws(ImagingError) {
    let pixels = try pixels.withLock { (pixels) throws(ImagingError) in
      if let pixels { return pixels }
      let decoded = try decode()
      pixels = decoded
      return decoded
    }
    for row in 0..<height {
      let from = pixels.base + (y + row) * rowSize + x * pixelSize
      (base + row * stride).copyMemory(from: from, byteCount: width * pixelSize)
    }
  }
}
