/// A file format of images. The one table of names, file name extensions and media types.
///
/// Tests/scripts/reference generates the table of docs/reference/formats.md from `facts`.
package enum ImageFormat: String, CaseIterable, Codable, Sendable {
  case jpeg, png, tiff, webp, gif, heif, avif, jxl, jp2, svg, pdf
  /// Slide formats besides TIFF and DICOM, which most slides use.
  case openSlide
  case dicom
  /// Camera RAW formats; most begin like TIFF files.
  case raw
  case openEXR, radiance, fits, pnm, analyze, matlab, vips, bmp, ico, psd, tga, pcx, sgi, dpx, sunRaster, xcf,
    dds

  /// The formats of uploads, identified by their signatures.
  package static let uploads: [Self] = [.jpeg, .png, .webp, .tiff, .gif, .avif, .heif, .jxl, .jp2, .raw]

  /// The name for people: `JPEG XL`.
  package var name: String { facts.name }

  /// The file name extensions in lower case, the usual one first. A folder's files are images by these extensions.
  package var endings: [String] { facts.endings }

  /// The names and extensions of all formats that are read.
  ///
  /// `rgb` and `bw`, also SGI's, are missing: such files are often bare samples, or belong to other programs.
  private var facts: (name: String, endings: [String]) {
    switch self {
    case .jpeg: ("JPEG", ["jpg", "jpeg", "jpe", "jfif", "mpo"])
    case .png: ("PNG", ["png", "apng"])
    // Also Zeiss' LSM and MetaMorph's stacks.
    case .tiff: ("TIFF", ["tif", "tiff", "btf", "tf2", "tf8", "qptiff", "lsm", "stk"])
    case .webp: ("WebP", ["webp"])
    case .gif: ("GIF", ["gif"])
    case .heif: ("HEIF", ["heic", "heif", "hif"])
    case .avif: ("AVIF", ["avif"])
    case .jxl: ("JPEG XL", ["jxl"])
    case .jp2: ("JPEG 2000", ["jp2", "j2k", "jpf", "jpx", "jpm", "j2c", "jpc"])
    case .svg: ("SVG", ["svg", "svgz"])
    case .pdf: ("PDF", ["pdf"])
    case .openSlide: ("OpenSlide", ["svs", "ndpi", "mrxs", "scn", "vms", "vmu", "bif", "svslide"])
    case .dicom: ("DICOM", ["dcm", "dicom"])
    case .raw:
      (
        "RAW",
        [
          "dng", "cr2", "cr3", "crw", "nef", "nrw", "arw", "sr2", "srf", "rw2", "rwl", "orf", "pef",
          "raf", "srw", "x3f", "mrw", "erf", "kdc", "dcr", "3fr", "mef", "mos", "iiq", "gpr",
        ]
      )
    case .openEXR: ("OpenEXR", ["exr"])
    case .radiance: ("Radiance", ["hdr"])
    case .fits: ("FITS", ["fits", "fit", "fts"])
    case .pnm: ("PNM", ["ppm", "pgm", "pbm", "pfm", "pnm", "pam"])
    case .analyze: ("Analyze", ["img", "hdr"])
    case .matlab: ("Matlab", ["mat"])
    case .vips: ("libvips", ["v", "vips"])
    case .bmp: ("BMP", ["bmp", "dib"])
    case .ico: ("ICO", ["ico", "cur"])
    case .psd: ("PSD", ["psd", "psb"])
    case .tga: ("TGA", ["tga"])
    case .pcx: ("PCX", ["pcx"])
    case .sgi: ("SGI", ["sgi", "rgba"])
    case .dpx: ("DPX", ["dpx"])
    case .sunRaster: ("Sun raster", ["ras", "sun"])
    case .xcf: ("XCF", ["xcf"])
    case .dds: ("DDS", ["dds"])
    }
  }

  /// The media type; `application/octet-stream` for formats that are not served under their own type, such as RAW.
  package var mediaType: StaticString {
    switch self {
    case .jpeg: "image/jpeg"
    case .png: "image/png"
    case .tiff: "image/tiff"
    case .webp: "image/webp"
    case .gif: "image/gif"
    case .heif: "image/heif"
    case .avif: "image/avif"
    case .jxl: "image/jxl"
    case .jp2: "image/jp2"
    default: "application/octet-stream"
    }
  }
}

extension ImageFormat {
  /// The number of a file's first bytes that `init` needs.
  package static let signatureBytes = 64

  /// Creates the format of an upload by its signature; nil if it has none of `uploads`.
  ///
  /// - Parameter start: the file's first bytes, `signatureBytes` of them unless the file has fewer.
  package init?(start: some Collection<UInt8>) {
    let bytes = Array(start.prefix(Self.signatureBytes))
    func has(_ text: [UInt8], at offset: Int = 0) -> Bool {
      bytes.count >= offset + text.count && bytes[offset..<offset + text.count].elementsEqual(text)
    }
    // RIFF of the form WEBP (RFC 9649, section 2.4).
    if has(Array("RIFF".utf8)), has(Array("WEBP".utf8), at: 8) {
      self = .webp
    } else if let found = Self.signatures.first(where: { has($0.bytes, at: $0.offset) }) {
      self = found.format
    } else if has(Array("ftyp".utf8), at: 4), let format = Self.format(brands: bytes.dropFirst(8)) {
      self = format
    } else {
      return nil
    }
  }

  /// The signatures at the start of files, in the order of the search: some RAW files begin like TIFF files.
  private static let signatures: [(format: Self, offset: Int, bytes: [UInt8])] =
    [
      // The start of image and the beginning of a marker (ITU-T T.81, annex B).
      (.jpeg, 0, [0xff, 0xd8, 0xff]),
      // PNG, section 5.2.
      (.png, 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    ] + RawFormat.starts.map { (.raw, $0.offset, $0.bytes) } + [
      // In either byte order, classic or BigTIFF.
      (.tiff, 0, [0x49, 0x49, 0x2a, 0]), (.tiff, 0, [0x4d, 0x4d, 0, 0x2a]),
      (.tiff, 0, [0x49, 0x49, 0x2b, 0]), (.tiff, 0, [0x4d, 0x4d, 0, 0x2b]),
      (.gif, 0, Array("GIF87a".utf8)), (.gif, 0, Array("GIF89a".utf8)),
      // A bare codestream or a container (ISO/IEC 18181-2).
      (.jxl, 0, [0xff, 0x0a]), (.jxl, 0, [0, 0, 0, 0x0c, 0x4a, 0x58, 0x4c, 0x20, 0x0d, 0x0a, 0x87, 0x0a]),
      // A container or a bare codestream (ISO/IEC 15444-1, annex I).
      (.jp2, 0, [0, 0, 0, 0x0c, 0x6a, 0x50, 0x20, 0x20, 0x0d, 0x0a, 0x87, 0x0a]),
      (.jp2, 0, [0xff, 0x4f, 0xff, 0x51]),
    ]

  /// Returns the format of an ISO base media file (ISO/IEC 14496-12).
  ///
  /// - Parameter brands: its major brand and, behind four bytes of version, the compatible brands.
  private static func format(brands: ArraySlice<UInt8>) -> ImageFormat? {
    let all = stride(from: brands.startIndex, to: brands.endIndex - 3, by: 4).map {
      String(decoding: brands[$0..<$0 + 4], as: UTF8.self)
    }
    if all.contains(where: { $0 == "avif" || $0 == "avis" }) { return .avif }
    let heif: Set = ["heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1"]
    return all.contains(where: heif.contains) ? .heif : nil
  }
}
