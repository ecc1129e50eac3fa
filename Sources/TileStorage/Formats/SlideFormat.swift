/// A microscope slide, which is not taken as an upload.
package struct SlideFormat: Hashable, Sendable {
  /// The scanner's name for it.
  let name: String

  /// - Parameter name: the scanner's name for it.
  package init(_ name: String) { self.name = name }

  /// Why an upload of the file is not taken, with what its owner can do instead.
  package var uploadRefusal: String {
    "this is a microscope slide (\(name)), which is not taken as an upload: on the server "
      + "'ziggurat build FILE --library DIR' builds it"
  }

  /// Slides and images of microscopes by the endings of their names.
  private static let slideEndings = [
    "svs": "Aperio SVS", "ndpi": "Hamamatsu NDPI", "ndpis": "Hamamatsu NDPIS", "vms": "Hamamatsu VMS",
    "vmu": "Hamamatsu VMU", "scn": "Leica SCN", "mrxs": "3DHISTECH MRXS", "bif": "Ventana BIF",
    "svslide": "Sakura SVSLIDE", "czi": "Zeiss CZI", "lif": "Leica LIF", "nd2": "Nikon ND2",
    "vsi": "Olympus VSI", "isyntax": "Philips iSyntax", "dcm": "DICOM", "dicom": "DICOM",
  ]

  /// Creates the format of a file by its first bytes and its name; nil if it is no slide.
  ///
  /// - Parameter start: the file's first `ImageFormat.signatureBytes` bytes.
  package init?(_ start: some Collection<UInt8>, named name: String) {
    // A JPEG stays one, whatever it is called.
    guard [nil, .tiff].contains(ImageFormat(start: start)) else { return nil }
    let ending = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    guard let slide = Self.slideEndings[ending] else { return nil }
    self.init(slide)
  }
}
