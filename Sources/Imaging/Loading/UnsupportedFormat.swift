/// A recognized format that is not supported, with advice for its owner.
struct UnsupportedFormat {
  /// As a noun phrase with its article.
  let name: String
  let advice: String

  /// Why a file of the format is not built, as a clause without a subject.
  var refusal: String { "is \(name), which is not read here: \(advice)" }

  /// Bioformats2raw and raw2ometiff are Glencoe's, bfconvert is Bio-Formats'.
  static let conversion = "convert it to OME-TIFF, for example with 'bfconvert FILE FILE.ome.tif'"
  static let frame = "take a picture from it, for example with 'ffmpeg -i FILE -frames:v 1 FILE.png'"

  /// ImageMagick's, to colours that are not logarithmic.
  static let scanConversion =
    "convert it to sRGB, for example with 'convert FILE -colorspace sRGB FILE.png'"
  /// Volumes of brain scanners. libvips reads Analyze only in big-endian byte order.
  static let analyze = "an Analyze or NIfTI volume, of which only big-endian Analyze is read: \(conversion)"

  private init(_ name: String, _ advice: String) {
    self.name = name
    self.advice = advice
  }

  /// `nil` if the first bytes are of no such format.
  init?(_ start: FileSignature) {
    if start.has("ZISRAWFILE") {
      self.init("a Zeiss CZI file", Self.conversion)
    } else if start.has([0xda, 0xce, 0xbe, 0x0a]) {
      self.init("a Nikon ND2 file", Self.conversion)
    } else if start.has([0x70, 0, 0, 0]), start.bytes.count > 8, start.bytes[8] == 0x2a {
      self.init("a Leica LIF file", Self.conversion)
    } else if start.holdsText("ObjectType=\"DPUfsImport\"") {
      self.init(
        "a Philips iSyntax slide",
        "export it as TIFF with Philips' software, or with isyntax2raw and raw2ometiff")
    } else if start.has([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
      let maker = ["oib": "an Olympus OIB file", "zvi": "a Zeiss ZVI file"][start.ending]
    {
      self.init(maker, Self.conversion)
    } else if start.has("SIS\0"), start.ending == "ets" {
      self.init("a part of an Olympus VSI slide", Self.conversion)
    } else if start.has([0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a]) {
      self.init("an HDF5 file, as Imaris' IMS and BigDataViewer's", Self.conversion)
    } else if start.has("n+1\0", at: 344) || start.has("ni1\0", at: 344) || start.has("n+2\0", at: 4)
      || start.has("ni2\0", at: 4)
    {
      // NIfTI-1 and -2, the field `magic`.
      self.init("a NIfTI volume", Self.conversion)
    } else if start.has([0x5c, 1, 0, 0]), start.bytes.count > 41, 1...7 ~= start.bytes[40],
      start.bytes[41] == 0
    {
      // The size of an Analyze 7.5 header, 348 bytes, and its number of dimensions.
      self.init("a little-endian Analyze volume", Self.conversion)
    } else if start.has([0x80, 0x2a, 0x5f, 0xd7]) || start.has([0xd7, 0x5f, 0x2a, 0x80]) {
      self.init("a Cineon file", Self.scanConversion)
    } else if let video = Self.video(start) {
      self.init("a video (\(video))", Self.frame)
    } else {
      return nil
    }
  }

  /// The container of a video by its first bytes.
  private static func video(_ start: FileSignature) -> String? {
    if start.has("ftyp", at: 4) {
      let brand = String(decoding: start.bytes.dropFirst(8).prefix(4), as: UTF8.self)
      let brands: Set = [
        "isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "M4V ", "M4VH", "M4VP", "MSNV",
        "dash",
        "f4v ",
      ]
      if brands.contains(brand) { return "MP4" }
      if brand == "qt  " { return "QuickTime" }
      return brand.hasPrefix("3g") ? "3GP" : nil
    }
    if ["moov", "mdat", "wide"].contains(where: { start.has($0, at: 4) }), start.ending == "mov" {
      return "QuickTime"
    }
    if start.has([0x1a, 0x45, 0xdf, 0xa3]) { return start.ending == "webm" ? "WebM" : "Matroska" }
    if start.has("RIFF"), start.has("AVI ", at: 8) { return "AVI" }
    if start.has([0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11]) { return "Windows Media" }
    if start.has([0, 0, 1, 0xba]) { return "MPEG" }
    if start.has("FLV") { return "Flash" }
    let packets = stride(from: 0, to: 1024, by: 188).prefix { $0 < start.bytes.count }
    if packets.count > 4, packets.allSatisfy({ start.bytes[$0] == 0x47 }) { return "MPEG transport stream" }
    return nil
  }
}

extension FileSignature {
  fileprivate func holdsText(_ text: String) -> Bool { bytes.firstRange(of: Array(text.utf8)) != nil }
}
