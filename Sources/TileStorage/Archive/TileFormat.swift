/// An encoding of tiles, known by its media type and by the endings of its file names.
public enum TileFormat: String, CaseIterable, Sendable {
  case jpeg = "jpg"
  case png, webp, avif

  /// The format of files that end in `fileExtension` (no dot), or nil where none is known.
  public init?(fileExtension: String) {
    let wanted = fileExtension.lowercased()
    guard let known = Self.allCases.first(where: { $0.extensions.contains(wanted) }) else { return nil }
    self = known
  }

  /// What Ziggurat writes, without a dot: `jpg`.
  public var fileExtension: String { rawValue }

  /// The endings that are read as the same format: `jpeg`.
  public var otherExtensions: [String] {
    switch self {
    case .jpeg: ["jpeg"]
    case .png, .webp, .avif: []
    }
  }

  public var extensions: [String] { [fileExtension] + otherExtensions }

  public var mediaType: String { mediaTypeName.description }

  /// The media type as a C string that lives as long as the process.
  package var mediaTypeCharacters: UnsafePointer<CChar> {
    UnsafeRawPointer(mediaTypeName.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  private var mediaTypeName: StaticString {
    switch self {
    case .jpeg: "image/jpeg"
    case .png: "image/png"
    case .webp: "image/webp"
    case .avif: "image/avif"
    }
  }
}
