import ZigguratFiles

/// The first bytes of a source and its file name extension, which determine its loader.
struct FileSignature {
  /// At most 1024: libvips looks for SVG's root in the first 1000.
  let bytes: [UInt8]
  /// The text after the name's last dot, in lower case; empty if there is none.
  let ending: String
  /// Whether it is a TIFF that ends before its first directory does, which describes its picture.
  let isCutOffTIFF: Bool
  /// Whether the root of an XML text is SVG's, where no first bytes say it: behind a long comment, in UTF-16, or under
  /// a prefix.
  let isLateSVG: Bool
  private let isNamedNIfTI: Bool

  init(ofFileAt path: String) { self.init(of: ReadableFile(path: path), path: path) }

  /// - Parameters:
  ///   - file: `nil` if it cannot be opened. There are no bytes then.
  ///   - path: a path that ends with the file's name.
  init(of file: ReadableFile?, path: String) {
    ending = ImageFileName.ending(of: path)
    isNamedNIfTI = path.lowercased().hasSuffix(".nii.gz")
    bytes = file?.bytes(atMost: 1024) ?? []
    isCutOffTIFF = file.map { [bytes] in Self.isCutOffTIFF(bytes, $0) } ?? false
    isLateSVG = file.map { [bytes] in Self.isLateSVG(bytes, $0) } ?? false
  }

  private static func isCutOffTIFF(_ bytes: [UInt8], _ file: ReadableFile) -> Bool {
    let order: ByteOrder = bytes.starts(with: "II*\0".utf8) ? .little : .big
    guard bytes.count >= 8, order == .little || bytes.starts(with: "MM\0*".utf8) else { return false }
    let directory = order.number(bytes, at: 4, 4)
    let count = file.bytes(from: directory, atMost: 2)
    return count.count < 2 || directory + 2 + 12 * order.number(count) > file.size
  }

  /// Bytes of an XML text in which its root is looked for.
  private static let maxPrologLength = 1 << 16

  private static func isLateSVG(_ start: [UInt8], _ file: ReadableFile) -> Bool {
    XMLProlog.mayBegin(start) && XMLProlog.root(of: file.bytes(atMost: maxPrologLength)) == "svg"
  }

  /// Whether ImageMagick reads a Netpbm file that libvips does not: plain bitmaps whose digits stand without spaces,
  /// which libvips takes for one number, and PAM.
  var isNetpbmOfMagick: Bool {
    (has("P1") || has("P7")) && bytes.count > 2 && " \t\r\n#".utf8.contains(bytes[2])
  }

  func has(_ text: String, at offset: Int = 0) -> Bool { bytes.dropFirst(offset).starts(with: text.utf8) }

  func has(_ start: [UInt8]) -> Bool { bytes.starts(with: start) }

  /// Whether it is a PDF, perhaps with other bytes before its header: readers look for that in the first 1024 (ISO
  /// 32000-1, implementation note 13 of PDF 1.7's annex H).
  var holdsPDF: Bool { has("%PDF") || bytes.firstRange(of: Array("%PDF-".utf8)) != nil }

  /// DICOM, part 10, section 7.1.
  var isDICOM: Bool { has("DICM", at: 128) }

  /// Why no loader takes the file, as a clause.
  var refusal: String {
    if isCutOffTIFF { return "is cut off: its end, which describes the picture of a TIFF file, is missing" }
    if let format = UnsupportedFormat(self) { return format.refusal }
    return isDICOMSlide
      ? "is a DICOM slide, which OpenSlide reads from version 4.0 on, and the one here does not: convert it to OME-TIFF, "
        + "for example with 'bfconvert FILE FILE.ome.tif'"
      : "is in no format that is read here"
        + ImageFileName.hint(ending: isNamedNIfTI ? "nii" : ending)
  }

  var isDICOMSlide: Bool {
    guard isDICOM else { return false }
    // The storage class of slides (DICOM, part 4, annex B.5), among the first fields.
    let slide = Array("1.2.840.10008.5.1.4.1.1.77.1.6".utf8)
    return bytes.indices.dropLast(slide.count).contains { bytes[$0...].starts(with: slide) }
  }

  /// The kinds that the file may be of whose decoders libvips does not trust; mostly none.
  var uncommonKinds: Set<UntrustedLoader> { Set(UntrustedLoader.allCases.filter { $0.mayBe(self) }) }

  /// The name of the class of libvips that loads the file, where its signature leaves no doubt.
  ///
  /// libvips asks each of its loaders in turn, and most of them open the file for that: a quarter of the time that
  /// a picture of 300×200 takes.
  var certainLoader: String? {
    if has([0xff, 0xd8, 0xff]) { return "VipsForeignLoadJpegFile" }
    if has([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return "VipsForeignLoadPngFile" }
    // AVIF sequences have a picture beside their frames (AVIF, section 6.2), which libheif reads; libvips does not know
    // the brand.
    if has("ftypavis", at: 4) { return "VipsForeignLoadHeifFile" }
    if !isCutOffTIFF, [42, 43].contains(where: { has([0x49, 0x49, $0, 0]) || has([0x4d, 0x4d, 0, $0]) }) {
      return "VipsForeignLoadTiffFile"
    }
    return nil
  }
}
