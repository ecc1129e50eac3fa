/// What a file's name says of its content; only a hint, for files nobody named one by one.
enum ImageFileName {
  /// Endings under which the formats that libvips loads are kept, and DICOM, of which it is told why it is not read.
  private static let endings: Set<String> = [
    "jpg", "jpeg", "jpe", "jfif", "png", "apng", "tif", "tiff", "btf", "webp", "gif", "heic", "heif", "avif",
    "jp2", "j2k", "jpf", "jpx", "jpm", "j2c", "jpc", "jxl", "svg", "svgz", "pdf", "ppm", "pgm", "pbm", "pfm",
    "pnm", "fits", "fit", "fts", "exr", "hdr", "v", "vips", "nii", "img", "svs", "ndpi", "mrxs", "scn",
    "vms", "vmu", "bif", "svslide", "bmp", "dcm", "dicom",
  ]

  /// Endings of slides and of TIFF files, which may hold a slide's label.
  private static let slides: Set<String> = [
    "svs", "tif", "tiff", "ndpi", "scn", "mrxs", "vms", "vmu", "bif", "svslide", "dcm", "dicom", "btf", "tf2",
    "tf8", "qptiff",
  ]

  /// Whether it may be an OME-TIFF.
  static func mayBeStack(_ name: String) -> Bool {
    ["tif", "tiff", "btf"].contains(name.split(separator: ".").last?.lowercased() ?? "")
  }

  static func mayHoldLabel(_ name: String) -> Bool {
    slides.contains(name.split(separator: ".").last?.lowercased() ?? "")
  }

  /// Whether it is a book by itself, whatever stands beside it.
  static func isOfPages(_ name: String) -> Bool { name.lowercased().hasSuffix(".pdf") }

  static func isKnown(_ name: String) -> Bool {
    guard let dot = name.lastIndex(of: ".") else { return false }
    return endings.contains(name[name.index(after: dot)...].lowercased())
  }

  /// The path without its last ending; a name that is all ending keeps it.
  static func stem(_ path: String) -> String {
    let nameStart = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    guard let dot = path[nameStart...].lastIndex(of: "."), dot > nameStart else { return path }
    return String(path[..<dot])
  }
}
