package import TileStorage

/// A file format that pictures are encoded in, known by the ending of its URLs.
package enum PictureFormat: String, CaseIterable, Sendable {
  case jpg, png, webp, tif, gif, avif, jxl

  /// Nil for an ending that no format has, in lower case.
  package init?(fileExtension: String) { self.init(rawValue: fileExtension) }

  /// - Parameter ending: what follows the dot, in lower case. Read without making a string.
  package init?(ending: UnsafeRawBufferPointer) { self.init(word: Self.word(ending)) }

  /// The same with the other ending that tiles may have, `jpeg`.
  package init?(tileEnding ending: UnsafeRawBufferPointer) {
    let word = Self.word(ending)
    self.init(word: word == 0x6a70_6567 ? 0x6a_7067 : word)
  }

  private init?(word: UInt32) {
    switch word {
    case 0x6a_7067: self = .jpg
    case 0x70_6e67: self = .png
    case 0x7765_6270: self = .webp
    case 0x74_6966: self = .tif
    case 0x67_6966: self = .gif
    case 0x6176_6966: self = .avif
    case 0x6a_786c: self = .jxl
    default: return nil
    }
  }

  /// The ending's three or four bytes as a number; 0 for others.
  private static func word(_ ending: UnsafeRawBufferPointer) -> UInt32 {
    guard ending.count == 3 || ending.count == 4, ending[0] != 0 else { return 0 }
    var word: UInt32 = 0
    for byte in ending { word = word << 8 | UInt32(byte) }
    return word
  }

  /// The one that tiles of `format` are in.
  package init(_ format: TileFormat) {
    self =
      switch format {
      case .jpeg: .jpg
      case .png: .png
      case .webp: .webp
      case .avif: .avif
      case .jxl: .jxl
      }
  }

  /// Without a dot: `jpg`.
  package var fileExtension: String { rawValue }

  /// The same as a literal, for those who write no strings.
  var ending: StaticString { facts.ending }

  package var mediaType: String { facts.mediaType.description }

  /// Whether a pixel can be transparent.
  package var keepsAlpha: Bool { facts.keepsAlpha }
}

extension TileFormat {
  /// Its ending as a literal.
  var ending: StaticString { PictureFormat(self).ending }

  /// In which formats clients should ask for its tiles, best first: JPEG where not every browser shows the stored one.
  var preferred: [PictureFormat] {
    switch self {
    case .jpeg, .png, .webp, .avif: [PictureFormat(self)]
    case .jxl: [.jxl, .jpg]
    }
  }
}
