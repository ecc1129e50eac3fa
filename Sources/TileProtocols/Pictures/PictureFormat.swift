package import TileStorage

/// A file format in which pictures are encoded, identified by the file name extension of its URLs.
package enum PictureFormat: String, CaseIterable, Sendable {
  case jpg, png, webp, tif, gif, avif, jxl

  /// Creates a format from its extension in lower case; nil if no format has it.
  package init?(fileExtension: String) { self.init(rawValue: fileExtension) }

  /// - Parameter ending: the bytes behind the dot, in lower case. They are read without a string.
  package init?(ending: UnsafeRawBufferPointer) { self.init(word: Self.word(ending)) }

  /// Creates a format from a tile's extension, which may also be `jpeg`.
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

  /// Returns the three or four bytes of the extension as a number; 0 for other lengths.
  private static func word(_ ending: UnsafeRawBufferPointer) -> UInt32 {
    guard ending.count == 3 || ending.count == 4, ending[0] != 0 else { return 0 }
    var word: UInt32 = 0
    for byte in ending { word = word << 8 | UInt32(byte) }
    return word
  }

  /// Creates the format of tiles in `format`.
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

  /// The file name extension without a dot: `jpg`.
  package var fileExtension: String { rawValue }

  /// The extension as a literal, for callers that create no strings.
  var ending: StaticString { facts.ending }

  package var mediaType: String { facts.format.mediaType.description }

  /// Whether a pixel can be transparent.
  package var keepsAlpha: Bool { self != .jpg }

  /// The cost of encoding a pixel, relative to JPEG.
  ///
  /// | format | clean | noisy | weight |
  /// |---|---|---|---|
  /// | jpg, Q 80 | 0.07 | 0.08 | 1 |
  /// | webp, Q 80, effort 0 | 0.19 | 0.40 | 4 |
  /// | avif, Q 80, effort 0 | 0.52 | 1.3 | 8 |
  /// | jxl, Q 80, effort 3 | 0.55 | 0.63 | 8 |
  /// | png | 0.55 | 1.6 | 10 |
  /// | tif, deflate | 0.72 | 2.9 | 18 |
  /// | gif | 1.9 | 3.5 | 26 |
  ///
  /// Seconds of processor time of libvips 8.14's savers, and of libjxl 0.7 (`VIPS_CONCURRENCY=1`, `/usr/bin/time`). The
  /// input was 14 megapixels of photographs, and the same with noise (sigma 6) added; decoding their JPEG takes 0.1.
  package var weight: Int { facts.weight }

  /// Bytes of memory that encoding takes for each pixel. The encoders of AV1 and JPEG XL make the most copies of a
  /// picture.
  package var bytesPerPixel: Int { facts.bytesPerPixel }

  /// Returns how many pixels of the format may be requested if `pixels` are allowed. It is all of them in the formats
  /// that every IIIF server must have, and in those that cost no more; less in others.
  package func limit(_ pixels: Int) -> Int {
    let dearest = max(Self.jpg.weight, Self.png.weight)
    return weight <= dearest ? pixels : pixels / weight * dearest
  }

  /// All facts about a format except its encoder.
  struct Facts {
    let ending: StaticString
    let format: ImageFormat
    /// The cost of encoding a pixel; see `PictureFormat.weight`.
    let weight: Int
    /// Bytes of memory that encoding takes for each pixel.
    var bytesPerPixel = 16
    /// The maximum length of a side in pixels.
    var maxDimension = 65_500
  }

  /// The position of a media type's subtype: behind `image/`.
  static let mediaTypeStart = 6

  var facts: Facts {
    switch self {
    case .jpg: Facts(ending: "jpg", format: .jpeg, weight: 1)
    case .png: Facts(ending: "png", format: .png, weight: 10)
    case .webp:
      // libwebp 1.2.4 takes 38 for transparency like noise, which it encodes like lossless pixels, and 6 without.
      Facts(ending: "webp", format: .webp, weight: 4, bytesPerPixel: 48, maxDimension: 16_383)
    case .tif: Facts(ending: "tif", format: .tiff, weight: 18)
    case .gif: Facts(ending: "gif", format: .gif, weight: 26)
    case .avif:
      Facts(ending: "avif", format: .avif, weight: 8, bytesPerPixel: 64, maxDimension: 16_383)
    case .jxl: Facts(ending: "jxl", format: .jxl, weight: 8, bytesPerPixel: 64)
    }
  }
}

extension TileFormat {
  /// The file name extension as a literal.
  var ending: StaticString { PictureFormat(self).ending }

  /// The formats in which clients should request its tiles, best first. JPEG is one if not every browser shows the
  /// stored format.
  var preferred: [PictureFormat] {
    switch self {
    case .jpeg, .png, .webp, .avif: [PictureFormat(self)]
    case .jxl: [.jxl, .jpg]
    }
  }
}
