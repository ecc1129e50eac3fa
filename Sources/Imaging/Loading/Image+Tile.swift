package import TileStorage

extension Image {
  /// Opens a tile by the decoder of its format and no other, whatever its bytes are. Memory for pixels is allocated
  /// only if its header has the required size.
  ///
  /// - Parameters:
  ///   - width: the required width in pixels.
  ///   - height: the required height in pixels.
  package static func tile(
    _ bytes: UnsafeRawBufferPointer, _ format: TileFormat, width: Int, height: Int
  ) throws(TileError) -> Image {
    if let defect = format.defect(ofTile: bytes, width: width, height: height) { throw .misfit(defect) }
    let image: Image
    do throws(ImagingError) {
      image = try opened(bytes, format, width, height)
    } catch { throw .damaged(error) }
    guard image.width == width, image.height == height else {
      throw .misfit("has \(image.width)×\(image.height) pixels, not \(width)×\(height)")
    }
    return image
  }

  private static func opened(
    _ bytes: UnsafeRawBufferPointer, _ format: TileFormat, _ width: Int, _ height: Int
  ) throws(ImagingError) -> Image {
    switch format {
    case .jpeg: try Image(encoded: bytes, loader: "jpegload_buffer", subject: "tile")
    case .png: try Image(encoded: bytes, loader: "pngload_buffer", subject: "tile")
    case .webp: try Image(encoded: bytes, loader: "webpload_buffer", subject: "tile")
    case .avif: try Image(encoded: bytes, loader: "heifload_buffer", subject: "tile")
    case .jxl: try JPEGXL.decode(bytes, width: width, height: height)
    }
  }

  /// Returns the JPEG from which a tile was made, byte for byte; nil if there is none.
  package static func jpeg(
    inTile bytes: UnsafeRawBufferPointer, _ format: TileFormat, width: Int, height: Int
  ) -> [UInt8]? {
    switch format {
    case .jpeg, .png, .webp, .avif: return nil
    case .jxl:
      guard format.defect(ofTile: bytes, width: width, height: height) == nil else { return nil }
      return JPEGXL.jpeg(in: bytes, width: width, height: height)
    }
  }
}

/// Why a tile is no picture for its place.
package enum TileError: Error, Hashable {
  /// It is another one than its place demands, as a clause without a subject: `is no image/jpeg`.
  case misfit(String)
  /// The error of its decoder.
  case damaged(ImagingError)
}

extension TileFormat {
  /// Bytes that decoding a tile takes for each of its pixels, and turning it into another picture's.
  package var bytesPerDecodedPixel: Int {
    switch self {
    case .jpeg, .png, .webp, .avif: 8
    // Its decoder keeps all numbers of a lossless frame, or all coefficients of a JPEG.
    case .jxl: 40
    }
  }
}
