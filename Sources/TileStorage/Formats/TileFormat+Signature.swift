extension TileFormat {
  /// What is wrong with bytes that somebody calls a tile of this format and size, behind the tile's name (`is no
  /// image/jpeg`); nil where they may be one. Asked before they are given to the format's decoder, which then tells
  /// the size from its header; but of AVIF from a box, whatever the picture itself says.
  package func fault(ofTile bytes: UnsafeRawBufferPointer, width: Int, height: Int) -> String? {
    guard ImageFormat(start: bytes) == imageFormat else { return "is no \(mediaType)" }
    switch self {
    case .jpeg, .png, .webp: return nil
    case .avif:
      guard let pictures = AVIFPictures(bytes) else { return "is no \(mediaType) of plain AV1 pictures" }
      // Turned, and rounded up to whole blocks.
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
