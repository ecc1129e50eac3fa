/// An image format of tiles.
@nonexhaustive
public enum TileFormat: String, CaseIterable, Sendable {
  /// JPEG (ITU-T T.81).
  case jpeg = "jpg"
  /// PNG (ISO/IEC 15948).
  case png
  /// WebP (RFC 9649).
  case webp
  /// AVIF (AV1 Image File Format).
  case avif
  /// JPEG XL (ISO/IEC 18181).
  case jxl

  /// Finds the format of files with an extension, such as `jpg` or `JPEG`; `nil` if no format has it.
  ///
  /// - Parameter fileExtension: without a dot, in upper or lower case.
  public init?(fileExtension: String) {
    let wanted = fileExtension.lowercased()
    guard let known = Self.allCases.first(where: { $0.extensions.contains(wanted) }) else { return nil }
    self = known
  }

  /// The extension of tiles in archives that this module writes, without a dot: `jpg`.
  public var fileExtension: String { rawValue }

  /// Other extensions of the same format: `jpeg`.
  package var otherExtensions: [String] { self == .jpeg ? ["jpeg"] : [] }

  /// All its file name extensions, without a dot, the one of written files first.
  package var extensions: [String] { [fileExtension] + otherExtensions }

  /// The usual name in lower case, which is one of its extensions: `jpeg`.
  package var name: String { otherExtensions.first ?? fileExtension }

  /// Whether a pixel can be transparent.
  package var keepsAlpha: Bool {
    switch self {
    case .jpeg: false
    case .png, .webp, .avif, .jxl: true
    }
  }

  /// Whether a tile can be gray. WebP has RGB alone, and so has AVIF from libheif.
  package var keepsGray: Bool {
    switch self {
    case .webp, .avif: false
    case .jpeg, .png, .jxl: true
    }
  }

  /// The format of its files.
  package var imageFormat: ImageFormat {
    switch self {
    case .jpeg: .jpeg
    case .png: .png
    case .webp: .webp
    case .avif: .avif
    case .jxl: .jxl
    }
  }

  /// The media type, such as `image/jpeg`.
  public var mediaType: String { imageFormat.mediaType.description }

  /// The media type as a C string that lives as long as the process.
  package var mediaTypeCharacters: UnsafePointer<CChar> {
    UnsafeRawPointer(imageFormat.mediaType.utf8Start).assumingMemoryBound(to: CChar.self)
  }
}
