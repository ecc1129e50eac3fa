/// A microscope slide, which is refused as an upload.
package struct SlideFormat: Hashable, Sendable {
  /// The scanner's name for the format.
  let name: String

  /// - Parameter name: the scanner's name for the format.
  package init(_ name: String) { self.name = name }

  /// The reason why an upload of the file is refused, with advice for its owner.
  package var uploadRefusal: String {
    "this is a microscope slide (\(name)), which is not taken as an upload: on the server "
      + "'ziggurat build FILE --library DIR' builds it"
  }

  /// Formats of slides and microscope images by file name extension.
  private static let slideEndings = [
    "svs": "Aperio SVS", "ndpi": "Hamamatsu NDPI", "ndpis": "Hamamatsu NDPIS", "vms": "Hamamatsu VMS",
    "vmu": "Hamamatsu VMU", "scn": "Leica SCN", "mrxs": "3DHISTECH MRXS", "bif": "Ventana BIF",
    "svslide": "Sakura SVSLIDE", "czi": "Zeiss CZI", "lif": "Leica LIF", "nd2": "Nikon ND2",
    "vsi": "Olympus VSI", "isyntax": "Philips iSyntax", "dcm": "DICOM", "dicom": "DICOM",
  ]

  /// Creates the format of a file by its first bytes and its name; nil if it is not a slide.
  ///
  /// - Parameter start: the file's first `ImageFormat.signatureBytes` bytes.
  package init?(_ start: some Collection<UInt8>, named name: String) {
    // A JPEG file stays a JPEG under any name.
    guard [nil, .tiff].contains(ImageFormat(start: start)) else { return nil }
    let ending = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    guard let slide = Self.slideEndings[ending] else { return nil }
    self.init(slide)
  }
}
