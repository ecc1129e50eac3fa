package import TileStorage

/// The content of a file by its name: only a hint, for files that the user did not name individually.
package enum ImageFileName {
  private static let formats: [String: ImageFormat] = Dictionary(
    ImageFormat.allCases.flatMap { format in format.endings.map { ($0, format) } },
    uniquingKeysWith: { first, _ in first })

  /// Formats that must be converted first, as noun phrases with advice.
  private static let unread: [String: String] = {
    let microscopes = ["czi", "i2syntax", "isyntax", "lif", "nd2", "oib", "oif", "vsi", "zvi"]
    var unread = Dictionary(
      uniqueKeysWithValues: microscopes.map {
        ($0, "a microscope's own format, which is not read: \(UnsupportedFormat.conversion)")
      })
    unread["nii"] = "a NIfTI volume, which is not read: \(UnsupportedFormat.conversion)"
    unread["cin"] = "a Cineon file, which is not read: \(UnsupportedFormat.scanConversion)"
    return unread
  }()

  private static let videos: Set = ["avi", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "mts", "webm", "wmv"]

  /// Returns the part of a path's last name behind its last dot, in lower case; empty if it has none.
  static func ending(of path: String) -> String {
    let name = path.split(separator: "/").last ?? ""
    return name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
  }

  /// Returns the format that the name says; nil if it says none that is read.
  package static func format(of name: String) -> ImageFormat? { formats[ending(of: name)] }

  /// Whether a folder's file of this name is an image.
  package static func isKnown(_ name: String) -> Bool { format(of: name) != nil }

  /// Returns a description of a file that is not an image by its name, as a noun phrase.
  package static func reasonPassedOver(_ name: String) -> String {
    let ending = ending(of: name)
    if let phrase = unread[name.lowercased().hasSuffix(".nii.gz") ? "nii" : ending] { return phrase }
    if ["bw", "rgb"].contains(ending) {
      return "an SGI image or samples alone by its name: name the file itself to have it built"
    }
    return videos.contains(ending)
      ? "a video, which is not read: \(UnsupportedFormat.frame)" : "no image by its name"
  }

  /// Returns a description of a folder that is not searched, as a noun phrase; nil if it may contain images.
  ///
  /// - Parameter names: the names of all its files, including hidden ones.
  package static func reasonPassedOver(folderWith names: some Sequence<String>) -> String? {
    let marks: Set = [".zarray", ".zattrs", ".zgroup", "zarr.json"]
    guard names.contains(where: marks.contains) else { return nil }
    return "a Zarr folder, which is not read here: convert OME-Zarr to OME-TIFF, for example with "
      + "'raw2ometiff FOLDER FILE.ome.tif' or 'bfconvert FOLDER FILE.ome.tif'"
  }

  /// Returns a description of a file without a decoder, to append to a clause; empty if its name does not identify the
  /// format.
  static func hint(ending: String) -> String {
    if let phrase = unread[ending] { return ": by its name it is \(phrase)" }
    if ending == "img" { return ": by its name it is \(UnsupportedFormat.analyze)" }
    return formats[ending].map { ", though its name says \($0.name)" } ?? ""
  }

  /// Whether the name is that of a TIFF, including OME-TIFF and ImageJ's stacks.
  package static func isTIFF(_ name: String) -> Bool { format(of: name) == .tiff }

  /// Whether it may be a camera's RAW file.
  package static func mayBeRAW(_ name: String) -> Bool { [.raw, .tiff].contains(format(of: name)) }

  /// Whether it may hold a slide's label: slides and TIFF files.
  package static func mayHoldLabel(_ name: String) -> Bool {
    isNamedAsSlide(ending: ending(of: name)) || format(of: name) == .dicom
  }

  /// Whether OpenSlide may read it, whatever its content begins with.
  static func isNamedAsSlide(ending: String) -> Bool { [.openSlide, .tiff].contains(formats[ending]) }

  /// Whether it is a book by itself, whatever stands beside it.
  package static func isOfPages(_ name: String) -> Bool { name.lowercased().hasSuffix(".pdf") }

  /// The path without its last ending; a name that is all ending keeps it.
  package static func stem(_ path: String) -> String {
    let nameStart = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    guard let dot = path[nameStart...].lastIndex(of: "."), dot > nameStart else { return path }
    return String(path[..<dot])
  }
}
