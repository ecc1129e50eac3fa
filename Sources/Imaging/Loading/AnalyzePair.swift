import ZigguratFiles

/// The two files of an Analyze or NIfTI volume: a header, and the samples beside it (`a.hdr` and `a.img`).
package enum AnalyzePair {
  /// Returns the path of the header that describes a file of samples; nil if there is none.
  package static func header(ofSamplesAt path: String) -> String? {
    guard let header = other(path, "img", "hdr"), isHeader(header) else { return nil }
    return header
  }

  /// Returns the path of the other file of a volume; nil if the file is not in a pair.
  package static func companion(of path: String) -> String? {
    if let header = header(ofSamplesAt: path) { return header }
    return isHeader(path) ? other(path, "hdr", "img") : nil
  }

  /// - Parameter from: the ending that the path must have, in any case; the other file's is the same in lower case, as
  ///   libvips looks for it.
  private static func other(_ path: String, _ from: String, _ to: String) -> String? {
    ImageFileName.ending(of: path) == from ? String(path.dropLast(from.count)) + to : nil
  }

  /// Whether a file begins with the size of such a header, 348, in either byte order.
  private static func isHeader(_ path: String) -> Bool {
    guard ImageFileName.ending(of: path) == "hdr" else { return false }
    let start = ReadableFile(path: path)?.bytes(atMost: 4)
    return start == [0, 0, 1, 0x5c] || start == [0x5c, 1, 0, 0]
  }
}
