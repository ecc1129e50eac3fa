package import ZigguratFiles
package import ZigguratSandbox

/// The needs of decoding a source besides the usual decoders, by its first bytes and its name: those of the loaders
/// that are let in for it.
package struct DecodingNeeds: Sendable {
  /// ImageMagick loads its decoders when they are first asked for, which a sandboxed process cannot.
  package let preload: ProcessLauncher.Preload?
  /// SVG and PDF write with the system's fonts.
  package let drawsText: Bool
  package let isPDF: Bool
  /// Folders and files that a decoder reads besides the source.
  package let tables: [String]

  /// - Parameter path: a path that ends with the file's name.
  package init(of file: ReadableFile, path: String) {
    let start = FileStart(of: file, path: path)
    let kinds = start.uncommonKinds
    tables = start.isDICOM ? [DICOMFile.dictionary] : []
    preload = kinds.contains(.magick) ? ImagingWarmth.magick : nil
    drawsText = !kinds.isDisjoint(with: [.svg, .pdf])
    isPDF = kinds.contains(.pdf)
  }
}

/// Kinds of files whose decoders libvips does not trust with hostile bytes; each by the name of its loader.
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

  /// Whether strangers send such pictures in good faith.
  var isPicture: Bool { self == .jpegXL || self == .jpeg2000 }

  func mayBe(_ file: FileStart) -> Bool {
    switch self {
    case .jpegXL: file.has([0xff, 0x0a]) || file.has("JXL ", at: 4)
    case .jpeg2000: file.has([0xff, 0x4f, 0xff, 0x51]) || file.has("jP  ", at: 4)
    case .svg: file.has([0x1f, 0x8b]) || Self.holdsSVG(file.bytes) || file.isLateSVG
    case .pdf: file.holdsPDF
    // They are TIFFs, JPEGs and texts by their first bytes.
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
    // Nearly all bytes of nearly all files are passed over: this is asked of each.
    for at in bytes.indices.dropLast(3) where bytes[at] == root[0] {
      if zip(bytes[at...], root).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) { return true }
    }
    return false
  }

  /// BMP, ICO, CUR, PSD, PCX, SGI, DPX, Sun raster, XCF, DDS and Targa. ImageMagick goes by the first
  /// bytes, too, and knows languages that read files and addresses: none of these can be taken for one.
  private static func isMagick(_ file: FileStart) -> Bool {
    let starts: [[UInt8]] = [
      Array("BM".utf8), [0, 0, 1, 0], [0, 0, 2, 0], Array("8BPS".utf8), [0x0a, 5, 1], [0x01, 0xda],
      Array("SDPX".utf8), Array("XPDS".utf8), [0x59, 0xa6, 0x6a, 0x95],
      Array("gimp xcf".utf8), Array("DDS ".utf8),
    ]
    if starts.contains(where: file.has) { return true }
    // Targa has no signature, but a header that no text begins with: colour map or none, and the kind of picture.
    guard file.ending == "tga", file.bytes.count > 18 else { return false }
    return file.bytes[1] < 2 && [1, 2, 3, 9, 10, 11].contains(file.bytes[2])
  }
}
