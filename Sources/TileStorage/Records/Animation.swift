/// The moving picture whose first frame the tiles show: an entry of the archive, the source file's own bytes.
public struct Animation: Codable, Hashable, Sendable {
  /// The formats that are kept to be played. A record that names another one is no record: what an archive of
  /// anybody's says becomes a media type.
  public enum Format: String, Codable, CaseIterable, Sendable {
    case gif, webp

    public var signature: ImageSignature {
      switch self {
      case .gif: .gif
      case .webp: .webp
      }
    }
  }

  public let frames: Int
  public let format: Format

  public init(frames: Int, format: Format) { (self.frames, self.format) = (frames, format) }

  public var entryName: String { "vendor/ziggurat/animation.\(format.rawValue)" }
  public var mediaType: String { "image/\(format.rawValue)" }
}

extension SZIArchive {
  /// The animation's bytes, or nil where the archive has none that begin as its format does.
  public func bytes(of animation: Animation) -> UnsafeRawBufferPointer? {
    guard let bytes = entry(animation.entryName), ImageSignature(bytes) == animation.format.signature else {
      return nil
    }
    return bytes
  }
}
