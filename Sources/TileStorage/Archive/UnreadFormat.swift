/// A kind of file that people have and that is not built, or not taken as an upload, with what they can do instead.
package enum UnreadFormat: Hashable, Sendable {
  /// A camera's RAW file, by its maker's name for it.
  case raw(String)
  /// A microscope slide, by its scanner's name for it.
  case slide(String)

  /// Why the file is not built, as a clause without a subject.
  package var refusal: String {
    switch self {
    case .raw(let name):
      "is a RAW photograph (\(name)), which cannot be built here: develop it first, as with "
        + "'darktable-cli FILE FILE.tif', and build the result"
    case .slide(let name): "is a microscope slide (\(name)) that cannot be read here"
    }
  }

  /// Why an upload of the file is not taken.
  package var uploadRefusal: String {
    switch self {
    case .raw(let name):
      "this is a RAW photograph (\(name)): export it as JPEG or TIFF, and send that"
    case .slide(let name):
      "this is a microscope slide (\(name)), which is not taken as an upload: on the server "
        + "'ziggurat build FILE --library DIR' builds it"
    }
  }

  /// RAW files by the endings of their names.
  private static let rawEndings = [
    "dng": "DNG", "cr2": "Canon CR2", "cr3": "Canon CR3", "crw": "Canon CRW", "nef": "Nikon NEF",
    "nrw": "Nikon NRW", "arw": "Sony ARW", "sr2": "Sony SR2", "srf": "Sony SRF", "rw2": "Panasonic RW2",
    "rwl": "Leica RWL", "orf": "Olympus ORF", "pef": "Pentax PEF", "raf": "Fujifilm RAF",
    "srw": "Samsung SRW",
    "x3f": "Sigma X3F", "mrw": "Minolta MRW", "erf": "Epson ERF", "kdc": "Kodak KDC", "dcr": "Kodak DCR",
    "3fr": "Hasselblad 3FR", "mef": "Mamiya MEF", "mos": "Leaf MOS", "iiq": "Phase One IIQ",
    "gpr": "GoPro GPR",
  ]

  /// Slides and images of microscopes by the endings of their names.
  private static let slideEndings = [
    "svs": "Aperio SVS", "ndpi": "Hamamatsu NDPI", "ndpis": "Hamamatsu NDPIS", "vms": "Hamamatsu VMS",
    "vmu": "Hamamatsu VMU", "scn": "Leica SCN", "mrxs": "3DHISTECH MRXS", "bif": "Ventana BIF",
    "svslide": "Sakura SVSLIDE", "czi": "Zeiss CZI", "lif": "Leica LIF", "nd2": "Nikon ND2",
    "vsi": "Olympus VSI", "isyntax": "Philips iSyntax", "dcm": "DICOM", "dicom": "DICOM",
  ]

  /// The first bytes of RAW files that are no plain TIFF.
  private static let rawStarts: [(offset: Int, bytes: [UInt8], name: String)] = [
    (8, Array("CR".utf8) + [2, 0], "Canon CR2"), (4, Array("ftypcrx ".utf8), "Canon CR3"),
    (6, Array("HEAPCCDR".utf8), "Canon CRW"), (0, Array("FUJIFILMCCD-RAW".utf8), "Fujifilm RAF"),
    (0, Array("IIRO".utf8), "Olympus ORF"), (0, Array("IIRS".utf8), "Olympus ORF"),
    (0, Array("MMOR".utf8), "Olympus ORF"), (0, Array("IIU".utf8) + [0], "Panasonic RW2"),
    (0, Array("FOVb".utf8), "Sigma X3F"), (0, [0] + Array("MRM".utf8), "Minolta MRW"),
  ]

  /// The kind of a RAW file by its name alone; nil for any other.
  package init?(rawNamed name: String) {
    guard let kind = Self.rawEndings[Self.ending(name)] else { return nil }
    self = .raw(kind)
  }

  private static func ending(_ name: String) -> String {
    name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
  }

  /// The kind of a file by its first bytes or its name; nil for any other.
  ///
  /// - Parameter start: the file's first `ImageSignature.byteCount` bytes.
  package init?(_ start: some Collection<UInt8>, named name: String) {
    let bytes = Array(start.prefix(ImageSignature.byteCount))
    for raw in Self.rawStarts where bytes.dropFirst(raw.offset).starts(with: raw.bytes) {
      self = .raw(raw.name)
      return
    }
    // A JPEG stays one, whatever it is called.
    switch ImageSignature(bytes) {
    case nil, .tiff: break
    default: return nil
    }
    if let raw = UnreadFormat(rawNamed: name) {
      self = raw
    } else if let slide = Self.slideEndings[Self.ending(name)] {
      self = .slide(slide)
    } else {
      return nil
    }
  }
}
