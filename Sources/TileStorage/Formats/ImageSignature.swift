/// A file's kind by its first bytes, whatever it is called.
package enum ImageSignature: String, CaseIterable, Sendable {
  /// JPEG's start of image and the beginning of a marker (ITU-T T.81, annex B).
  case jpeg
  /// The PNG signature (PNG, section 5.2).
  case png
  /// RIFF of the form WEBP (RFC 9649, section 2.4).
  case webp
  /// TIFF of either byte order, classic or BigTIFF.
  case tiff
  /// GIF87a or GIF89a.
  case gif
  /// ISO media of the brand `avif` or `avis`.
  case avif
  /// ISO media of a brand of HEIF's.
  case heif
  /// JPEG XL, a bare codestream or a container (ISO/IEC 18181-2).
  case jxl
  /// JPEG 2000, a bare codestream or a container (ISO/IEC 15444-1, annex I).
  case jp2
  /// A camera's own format that is no TIFF; those that are TIFFs begin as TIFFs do.
  case raw

  /// How many of a file's first bytes tell its kind.
  package static let byteCount = 64

  /// The kind of a file; nil where it begins like none of them.
  ///
  /// - Parameter start: the file's first bytes, `byteCount` of them unless the file has fewer.
  package init?(_ start: some Collection<UInt8>) {
    let bytes = Array(start.prefix(Self.byteCount))
    func has(_ text: [UInt8], at offset: Int = 0) -> Bool {
      bytes.count >= offset + text.count && bytes[offset..<offset + text.count].elementsEqual(text)
    }
    if has([0xff, 0xd8, 0xff]) {
      self = .jpeg
    } else if has([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
      self = .png
    } else if has(Array("RIFF".utf8)), has(Array("WEBP".utf8), at: 8) {
      self = .webp
    } else if RawFormat.kind(bytes) != nil {
      self = .raw
    } else if has([0x49, 0x49, 0x2a, 0]) || has([0x4d, 0x4d, 0, 0x2a]) || has([0x49, 0x49, 0x2b, 0])
      || has([0x4d, 0x4d, 0, 0x2b])
    {
      self = .tiff
    } else if has(Array("GIF87a".utf8)) || has(Array("GIF89a".utf8)) {
      self = .gif
    } else if has([0xff, 0x0a]) || has([0, 0, 0, 0x0c, 0x4a, 0x58, 0x4c, 0x20, 0x0d, 0x0a, 0x87, 0x0a]) {
      self = .jxl
    } else if has([0, 0, 0, 0x0c, 0x6a, 0x50, 0x20, 0x20, 0x0d, 0x0a, 0x87, 0x0a])
      || has([0xff, 0x4f, 0xff, 0x51])
    {
      self = .jp2
    } else if has(Array("ftyp".utf8), at: 4), let kind = Self.kind(brands: bytes.dropFirst(8)) {
      self = kind
    } else {
      return nil
    }
  }

  /// Of an ISO base media file (ISO/IEC 14496-12): its major brand and, behind four bytes of version, those
  /// it is compatible with.
  private static func kind(brands: ArraySlice<UInt8>) -> ImageSignature? {
    let all = stride(from: brands.startIndex, to: brands.endIndex - 3, by: 4).map {
      String(decoding: brands[$0..<$0 + 4], as: UTF8.self)
    }
    if all.contains(where: { $0 == "avif" || $0 == "avis" }) { return .avif }
    let heif: Set = ["heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1"]
    return all.contains(where: heif.contains) ? .heif : nil
  }
}

extension ImageSignature {
  /// The endings of files' names, in lower case, the usual one first.
  package var endings: [String] {
    switch self {
    case .jpeg: ["jpg", "jpeg", "jpe", "jfif", "mpo"]
    case .png: ["png", "apng"]
    case .webp: ["webp"]
    case .tiff: ["tif", "tiff", "btf", "tf2", "tf8", "qptiff"]
    case .gif: ["gif"]
    case .avif: ["avif"]
    case .heif: ["heic", "heif", "hif"]
    case .jxl: ["jxl"]
    case .jp2: ["jp2", "j2k", "jpf", "jpx", "jpm", "j2c", "jpc"]
    case .raw:
      [
        "dng", "cr2", "cr3", "crw", "nef", "nrw", "arw", "sr2", "srf", "rw2", "rwl", "orf", "pef", "raf",
        "srw",
        "x3f", "mrw", "erf", "kdc", "dcr", "3fr", "mef", "mos", "iiq", "gpr",
      ]
    }
  }
}
