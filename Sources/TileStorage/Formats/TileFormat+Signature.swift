extension TileFormat {
  /// Returns the defect of bytes that are claimed to be a tile of this format and size; nil if they may be one. The
  /// defect is a predicate of the tile's name: `is no image/jpeg`.
  ///
  /// The check precedes the format's decoder, which then takes the size from the header. For AVIF, that decoder takes
  /// it from a box, which may differ from the picture's own data.
  ///
  /// - Parameters:
  ///   - width: the expected width in pixels.
  ///   - height: the expected height in pixels.
  package func defect(ofTile bytes: UnsafeRawBufferPointer, width: Int, height: Int) -> String? {
    guard ImageFormat(start: bytes) == imageFormat else { return "is no \(mediaType)" }
    switch self {
    case .jpeg, .png, .webp: return nil
    case .avif:
      guard let pictures = AVIFPictures(bytes) else { return "is no \(mediaType) of plain AV1 pictures" }
      // Rotated, and rounded up to whole blocks.
      let longest = max(width, height) + 64
      guard pictures.width <= longest, pictures.height <= longest else {
        return "has \(pictures.width)×\(pictures.height) pixels, not \(width)×\(height)"
      }
      return nil
    case .jxl:
      guard let size = JPEGXLSize(bytes) else { return "is no \(mediaType) that tells its size" }
      guard size.width == width, size.height == height else {
        return "has \(size.width)×\(size.height) pixels, not \(width)×\(height)"
      }
      return nil
    }
  }
}
