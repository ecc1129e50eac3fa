/// A kind of file that people have and that is not taken as an upload, with what they can do instead.
package enum UnreadFormat: Hashable, Sendable {
  /// A microscope slide, by its scanner's name for it.
  case slide(String)

  /// Why an upload of the file is not taken.
  package var uploadRefusal: String {
    switch self {
    case .slide(let name):
      "this is a microscope slide (\(name)), which is not taken as an upload: on the server "
        + "'ziggurat build FILE --library DIR' builds it"
    }
  }

  /// Slides and images of microscopes by the endings of their names.
  private static let slideEndings = [
    "svs": "Aperio SVS", "ndpi": "Hamamatsu NDPI", "ndpis": "Hamamatsu NDPIS", "vms": "Hamamatsu VMS",
    "vmu": "Hamamatsu VMU", "scn": "Leica SCN", "mrxs": "3DHISTECH MRXS", "bif": "Ventana BIF",
    "svslide": "Sakura SVSLIDE", "czi": "Zeiss CZI", "lif": "Leica LIF", "nd2": "Nikon ND2",
    "vsi": "Olympus VSI", "isyntax": "Philips iSyntax", "dcm": "DICOM", "dicom": "DICOM",
  ]

  /// The kind of a file by its first bytes and its name; nil for any other.
  ///
  /// - Parameter start: the file's first `ImageSignature.byteCount` bytes.
  package init?(_ start: some Collection<UInt8>, named name: String) {
    // A JPEG stays one, whatever it is called.
    switch ImageSignature(start) {
    case nil, .tiff: break
    default: return nil
    }
    let ending = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    guard let slide = Self.slideEndings[ending] else { return nil }
    self = .slide(slide)
  }
}
