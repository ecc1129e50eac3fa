import ZigguratFiles

/// The order of rows and pixels of a Radiance picture, and its colours (RADIANCE file formats, "Pictures"), which
/// libvips ignores.
struct RadianceHeader {
  /// EXIF's number of that order, 1…8.
  let orientation: Int
  /// The order as the file writes it: "+Y +X".
  let order: String
  /// Whether the samples are CIE XYZ instead of red, green and blue.
  let isXYZ: Bool

  /// Bytes in which the resolution is looked for.
  private static let maxLength = 1 << 16

  /// `nil` if the file has no such header.
  init?(_ file: SourceFile) {
    let bytes = file.bytes(atMost: Self.maxLength)
    guard bytes.starts(with: "#?".utf8) else { return nil }
    // An empty line ends the header; the resolution follows it.
    let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
    guard let empty = lines.firstIndex(where: \.isEmpty), empty + 1 < lines.count else { return nil }
    isXYZ = lines[..<empty].contains { line in
      String(decoding: line.prefix(80), as: UTF8.self).filter { !$0.isWhitespace } == "FORMAT=32-bit_rle_xyze"
    }
    let parts = String(decoding: lines[empty + 1].prefix(80), as: UTF8.self).split(separator: " ")
    guard parts.count == 4 else { return nil }
    order = "\(parts[0]) \(parts[2])"
    // -Y is downwards, and +X to the right; the first axis is that of the rows.
    let orders = ["-Y +X", "-Y -X", "+Y -X", "+Y +X", "+X -Y", "-X -Y", "-X +Y", "+X +Y"]
    guard let place = orders.firstIndex(of: order) else { return nil }
    orientation = place + 1
  }
}
