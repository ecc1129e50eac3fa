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

  /// The format of files with an extension, such as `jpg` or `JPEG`; `nil` if there is none.
  ///
  /// - Parameter fileExtension: without a dot, in upper or lower case.
  public init?(fileExtension: String) {
    let wanted = fileExtension.lowercased()
    guard let known = Self.allCases.first(where: { $0.extensions.contains(wanted) }) else { return nil }
    self = known
  }

  /// The extension of tiles in archives that this module writes, without a dot: `jpg`.
  public var fileExtension: String { rawValue }

  /// The endings that are read as the same format: `jpeg`.
  package var otherExtensions: [String] { facts.otherExtension.map { ["\($0)"] } ?? [] }

  /// All endings of its file names, without a dot, the one that is written first.
  package var extensions: [String] { [fileExtension] + otherExtensions }

  /// What people call it, in lower case: `jpeg`. One of its endings.
  package var name: String { otherExtensions.first ?? fileExtension }

  /// Whether a pixel can be transparent.
  package var keepsAlpha: Bool { facts.keepsAlpha }

  /// Whether a tile can be gray. WebP has RGB alone, and so has AVIF as libheif writes it.
  package var keepsGray: Bool { facts.keepsGray }

  /// The signature that files of this format begin with.
  package var signature: ImageSignature { facts.signature }

  /// The media type, such as `image/jpeg`.
  public var mediaType: String { facts.mediaType.description }

  /// The media type as a C string that lives as long as the process.
  package var mediaTypeCharacters: UnsafePointer<CChar> {
    UnsafeRawPointer(facts.mediaType.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  private struct Facts {
    let mediaType: StaticString
    let signature: ImageSignature
    var otherExtension: StaticString?
    var keepsAlpha = true
    var keepsGray = true
  }

  private var facts: Facts {
    switch self {
    case .jpeg: Facts(mediaType: "image/jpeg", signature: .jpeg, otherExtension: "jpeg", keepsAlpha: false)
    case .png: Facts(mediaType: "image/png", signature: .png)
    case .webp: Facts(mediaType: "image/webp", signature: .webp, keepsGray: false)
    case .avif: Facts(mediaType: "image/avif", signature: .avif, keepsGray: false)
    case .jxl: Facts(mediaType: "image/jxl", signature: .jxl)
    }
  }
}
