/// An encoding of tiles, known by its media type and by the endings of its file names.
public struct TileFormat: Hashable, Sendable {
  /// What Ziggurat writes, without a dot: `jpg`.
  public let fileExtension: String
  /// Read as the same format: `jpeg`.
  public let otherExtensions: [String]
  public let mediaType: String

  public static let jpeg = TileFormat(
    fileExtension: "jpg", otherExtensions: ["jpeg"], mediaType: "image/jpeg")
  public static let png = TileFormat(fileExtension: "png", otherExtensions: [], mediaType: "image/png")
  public static let webp = TileFormat(fileExtension: "webp", otherExtensions: [], mediaType: "image/webp")
  public static let avif = TileFormat(fileExtension: "avif", otherExtensions: [], mediaType: "image/avif")

  public static let all: [TileFormat] = [.jpeg, .png, .webp, .avif]

  /// The format of files that end in `fileExtension` (no dot), or nil where none is known.
  public init?(fileExtension: String) {
    let wanted = fileExtension.lowercased()
    guard let known = Self.all.first(where: { $0.extensions.contains(wanted) }) else { return nil }
    self = known
  }

  private init(fileExtension: String, otherExtensions: [String], mediaType: String) {
    self.fileExtension = fileExtension
    self.otherExtensions = otherExtensions
    self.mediaType = mediaType
  }

  public var extensions: [String] { [fileExtension] + otherExtensions }
}
