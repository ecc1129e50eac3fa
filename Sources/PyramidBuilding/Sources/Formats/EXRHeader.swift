import ZigguratFiles

/// The channels of an OpenEXR file (OpenEXR File Layout), and its chromaticities, which libvips ignores. libvips reads
/// R, G, B and A, or Y, RY, BY and A.
struct EXRHeader {
  /// The names of the first part's channels.
  let channels: [String]
  private let hasFurtherParts: Bool
  /// CIE x and y of red, green, blue and white; nil if the file does not have them.
  private let chromaticities: [Double]?

  /// Bytes of the header that are looked at.
  private static let maxLength = 1 << 20

  /// `nil` if the file has no such header.
  init?(_ file: SourceFile) {
    let bytes = file.bytes(atMost: Self.maxLength)
    guard bytes.count > 8, bytes.starts(with: [0x76, 0x2f, 0x31, 0x01]) else { return nil }
    // The version's bit 12.
    hasFurtherParts = bytes[5] & 0x10 != 0
    var at = 8
    func text() -> String? {
      guard let end = bytes[at...].firstIndex(of: 0) else { return nil }
      defer { at = end + 1 }
      return String(decoding: bytes[at..<end], as: UTF8.self)
    }
    var (channels, chromaticities): ([String]?, [Double]?)
    while let name = text(), !name.isEmpty, text() != nil, at + 4 <= bytes.count {
      let size = ByteOrder.little.number(bytes, at: at, 4)
      at += 4
      guard size <= bytes.count - at else { return nil }
      let end = at + size
      switch name {
      case "channels":
        var names: [String] = []
        while at < end, let channel = text(), !channel.isEmpty {
          names.append(channel)
          // Its type, whether it is linear, and its sampling.
          at += 16
        }
        channels = channels ?? names
      case "chromaticities" where size == 32 && chromaticities == nil:
        chromaticities = stride(from: at, to: end, by: 4).map { place in
          Double(Float(bitPattern: UInt32(ByteOrder.little.number(bytes, at: place, 4))))
        }
      default: break
      }
      at = end
    }
    guard let channels else { return nil }
    self.channels = channels
    self.chromaticities = chromaticities
  }

  var hasAlpha: Bool { channels.contains("A") }

  /// The matrix from the file's linear RGB to that of sRGB, adapted to its white by Bradford's method (OpenEXR,
  /// Technical Introduction, "RGB Color"); nil if the file has the same primaries, or none that span colours.
  var standardRGBMatrix: [[Double]]? {
    guard let own = chromaticities, own.allSatisfy(\.isFinite), own[7] > 0,
      zip(own, Self.standard).contains(where: { abs($0 - $1) > 1e-4 }),
      let toXYZ = Self.toXYZ(own), let fromXYZ = Self.toXYZ(Self.standard).flatMap(Self.inverse),
      let fromCones = Self.inverse(Self.bradford)
    else { return nil }
    let old = Self.applied(Self.bradford, to: Self.white(own))
    let new = Self.applied(Self.bradford, to: Self.white(Self.standard))
    guard old.allSatisfy({ abs($0) > 1e-6 }) else { return nil }
    let cones = Self.product(Self.bradford, toXYZ)
    let adapted = (0..<3).map { row in cones[row].map { $0 * new[row] / old[row] } }
    return Self.product(fromXYZ, Self.product(fromCones, adapted))
  }

  /// ITU-R BT.709, which a file without chromaticities has.
  private static let standard = [0.64, 0.33, 0.30, 0.60, 0.15, 0.06, 0.3127, 0.3290]
  private static let bradford = [
    [0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296],
  ]

  /// XYZ of white, whose Y is 1.
  private static func white(_ points: [Double]) -> [Double] {
    [points[6] / points[7], 1, (1 - points[6] - points[7]) / points[7]]
  }

  /// The matrix from linear RGB to XYZ; nil if the primaries lie on a line.
  private static func toXYZ(_ points: [Double]) -> [[Double]]? {
    let (x, y) = ([points[0], points[2], points[4]], [points[1], points[3], points[5]])
    let z = (0..<3).map { 1 - x[$0] - y[$0] }
    guard let inverse = inverse([x, y, z]) else { return nil }
    let shares = applied(inverse, to: white(points))
    return [x, y, z].map { row in (0..<3).map { row[$0] * shares[$0] } }
  }

  private static func applied(_ matrix: [[Double]], to vector: [Double]) -> [Double] {
    matrix.map { row in row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2] }
  }

  private static func product(_ left: [[Double]], _ right: [[Double]]) -> [[Double]] {
    let columns = (0..<3).map { column in applied(left, to: right.map { $0[column] }) }
    return (0..<3).map { row in columns.map { $0[row] } }
  }

  /// The inverse of a matrix of three rows; nil if it has none.
  private static func inverse(_ m: [[Double]]) -> [[Double]]? {
    func minor(_ row: Int, _ column: Int) -> Double {
      let (a, b, c, d) = ((row + 1) % 3, (row + 2) % 3, (column + 1) % 3, (column + 2) % 3)
      return m[a][c] * m[b][d] - m[a][d] * m[b][c]
    }
    let determinant: Double = m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2)
    guard abs(determinant) > 1e-9 else { return nil }
    return (0..<3).map { row in (0..<3).map { column in minor(column, row) / determinant } }
  }

  private static let shown: Set = ["R", "G", "B", "A", "Y", "RY", "BY"]

  /// Whether there is a channel that gives a pixel its colour.
  var hasColours: Bool { channels.contains { $0 != "A" && Self.shown.contains($0) } }

  /// The names of channels that no tile shows, for reports.
  var unshown: [String] {
    let others = channels.filter { !Self.shown.contains($0) }
    var names =
      others.isEmpty ? [] : ["\(others.count == 1 ? "channel" : "channels") \(others.listed(atMost: 8))"]
    if hasFurtherParts { names.append("further parts") }
    return names
  }

  /// Why the picture cannot be shown, as a clause.
  var refusal: String {
    let layers = channels.compactMap { name in
      name.lastIndex(of: ".").map { String(name[..<$0]) }
    }
    let layer = layers.first { layer in ["R", "G", "B"].allSatisfy { channels.contains("\(layer).\($0)") } }
    let colours = layer.map { ["\($0).R", "\($0).G", "\($0).B"] } ?? [channels.first ?? "Z"]
    let choice =
      colours.count == 3 ? zip(["R", "G", "B"], colours).map { "\($0)=\($1)" } : ["Y=\(colours[0])"]
    return
      "is OpenEXR without channels R, G, B or Y (it has \(channels.listed(atMost: 8))): name those that are to be "
      + "shown, for example with 'oiiotool FILE --ch \(choice.joined(separator: ",")) -o FILE2.exr'"
  }
}
