/// The animation whose first frame the tiles show: an entry of the archive with the source file's own bytes.
package struct Animation: Codable, Hashable, Sendable {
  /// The formats of animations. A record with another one is invalid, because the format of an untrusted archive
  /// becomes a media type.
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

  /// The number of frames.
  package let frames: Int
  /// The format of its bytes.
  package let format: Format

  /// Creates the record of an animation.
  package init(frames: Int, format: Format) {
    self.frames = frames
    self.format = format
  }

  /// The name of its entry, relative to the archive's root folder.
  package var entryName: String { "vendor/ziggurat/animation.\(format.rawValue)" }
  /// Its media type.
  package var mediaType: String { format.imageFormat.mediaType.description }
}

extension TileArchive {
  /// Returns the animation's bytes; nil if the archive has none with the signature of the format.
  package func bytes(of animation: Animation) -> UnsafeRawBufferPointer? {
    guard let bytes = entry(animation.entryName), ImageFormat(start: bytes) == animation.format.imageFormat
    else {
      return nil
    }
    return bytes
  }
}
