/// The moving picture whose first frame the tiles show: an entry of the archive, the source file's own bytes.
package struct Animation: Codable, Hashable, Sendable {
  /// The formats that are kept to be played. A record that names another one is no record: what an archive of
  /// anybody's says becomes a media type.
  package enum Format: String, Codable, CaseIterable, Sendable {
    /// GIF.
    case gif
    /// Animated WebP.
    case webp

    /// The format of its files.
    package var imageFormat: ImageFormat {
      switch self {
      case .gif: .gif
      case .webp: .webp
      }
    }
  }

  /// How many pictures it shows one after the other.
  package let frames: Int
  /// The format of its bytes.
  package let format: Format

  /// An animation of an archive.
  package init(frames: Int, format: Format) { (self.frames, self.format) = (frames, format) }

  /// The name of its entry, below the archive's root folder.
  package var entryName: String { "vendor/ziggurat/animation.\(format.rawValue)" }
  /// Its media type.
  package var mediaType: String { format.imageFormat.mediaType.description }
}

extension TileArchive {
  /// The animation's bytes, or nil where the archive has none that begin as its format does.
  package func bytes(of animation: Animation) -> UnsafeRawBufferPointer? {
    guard let bytes = entry(animation.entryName), ImageFormat(start: bytes) == animation.format.imageFormat
    else {
      return nil
    }
    return bytes
  }
}
