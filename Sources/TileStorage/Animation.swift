/// The moving picture whose first frame the tiles show: an entry of the archive, the source file's own bytes.
public struct Animation: Codable, Hashable, Sendable {
  public let frames: Int
  /// The file's ending: `gif` or `webp`.
  public let format: String

  public init(frames: Int, format: String) { (self.frames, self.format) = (frames, format) }

  public var entryName: String { "vendor/ziggurat/animation.\(format)" }
  public var mediaType: String { "image/\(format)" }
}
