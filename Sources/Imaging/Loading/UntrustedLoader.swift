package import ZigguratFiles
package import ZigguratSandbox

/// The needs of decoding a source besides the usual decoders, by its first bytes and its name. They are those of the
/// loaders that are enabled for it.
package struct DecodingNeeds: Sendable {
  /// A preload for ImageMagick, which loads its decoders on first use. A sandboxed process cannot do that.
  package let preload: ProcessLauncher.Preload?
  /// Whether the decoder draws text with the system's fonts, as for SVG and PDF.
  package let drawsText: Bool
  package let isPDF: Bool
  /// Directories and files that a decoder reads besides the source.
  package let tables: [String]

  /// - Parameter path: a path that ends with the file's name.
  package init(of file: ReadableFile, path: String) {
    let start = FileSignature(of: file, path: path)
    let kinds = start.uncommonKinds
    tables = start.isDICOM ? [DICOMImage.dictionary] : []
    preload = kinds.contains(.magick) ? ImagingPreload.magick : nil
    drawsText = !kinds.isDisjoint(with: [.svg, .pdf])
    isPDF = kinds.contains(.pdf)
  }
}

/// Formats with a libvips loader that is marked as untrusted, by the name of the loader.
enum UntrustedLoader: String, CaseIterable {
  case jpegXL = "Jxl"
  case jpeg2000 = "Jp2k"
  case svg = "Svg"
  case pdf = "Pdf"
  case openSlide = "Openslide"
  case fits = "Fits"
  case analyze = "Analyze"
  case openEXR = "Openexr"
  case matlab = "Mat"
  case netpbm = "Ppm"
  case radiance = "Rad"
  case vips = "Vips"
  /// A format that only ImageMagick reads.
  case magick = "Magick"

  /// Whether untrusted files of this format are accepted, because ordinary users upload them.
  var isPicture: Bool { self == .jpegXL || self == .jpeg2000 }

  func mayBe(_ file: FileSignature) -> Bool {
    switch self {
    case .jpegXL: file.has([0xff, 0x0a]) || file.has("JXL ", at: 4)
    case .jpeg2000: file.has([0xff, 0x4f, 0xff, 0x51]) || file.has("jP  ", at: 4)
    case .svg: file.has([0x1f, 0x8b]) || Self.holdsSVG(file.bytes) || file.isLateSVG
    case .pdf: file.holdsPDF
    // By their first bytes, slides are TIFFs, JPEGs and texts.
    case .openSlide: ImageFileName.isNamedAsSlide(ending: file.ending) || file.isDICOM
    case .fits: file.has("SIMPLE")
    case .analyze: ["img", "hdr"].contains(file.ending)
    case .openEXR: file.has([0x76, 0x2f, 0x31, 0x01])
    case .matlab: file.has("MATLAB")
    case .netpbm: file.has("P") && file.bytes.count > 1 && "23456Ff".utf8.contains(file.bytes[1])
    case .radiance: file.has("#?")
    case .vips: file.has([0x08, 0xf2, 0xa6, 0xb6]) || file.has([0xb6, 0xa6, 0xf2, 0x08])
    case .magick: Self.isMagick(file) || file.isNetpbmOfMagick
    }
  }

  private static func holdsSVG(_ bytes: [UInt8]) -> Bool {
    let root = Array("<svg".utf8)
    // The search skips nearly all bytes of nearly all files; it runs for each file.
    for at in bytes.indices.dropLast(3) where bytes[at] == root[0] {
      if zip(bytes[at...], root).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) { return true }
    }
    return false
  }

  /// Whether the file is a BMP, ICO, CUR, PSD, PCX, SGI, DPX, Sun raster, XCF, DDS or Targa. ImageMagick detects
  /// formats by the first bytes, too, and has formats that read files and URLs. None of these can be confused with
  /// those.
  private static func isMagick(_ file: FileSignature) -> Bool {
    let starts: [[UInt8]] = [
      Array("BM".utf8), [0, 0, 1, 0], [0, 0, 2, 0], Array("8BPS".utf8), [0x0a, 5, 1], [0x01, 0xda],
      Array("SDPX".utf8), Array("XPDS".utf8), [0x59, 0xa6, 0x6a, 0x95],
      Array("gimp xcf".utf8), Array("DDS ".utf8),
    ]
    if starts.contains(where: file.has) { return true }
    // Targa has no signature. Its header has a colour map flag and the image type, which no text begins with.
    guard file.ending == "tga", file.bytes.count > 18 else { return false }
    return file.bytes[1] < 2 && [1, 2, 3, 9, 10, 11].contains(file.bytes[2])
  }
}
