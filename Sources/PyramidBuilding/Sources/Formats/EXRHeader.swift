import Files

/// The channels of an OpenEXR file (OpenEXR File Layout), of which libvips reads R, G, B and A, or Y, RY, BY and A.
struct EXRHeader {
  /// The names of the first part's channels.
  let channels: [String]
  private let hasFurtherParts: Bool

  /// Bytes of the header that are looked at.
  private static let longest = 1 << 20

  /// `nil` if the file has no such header.
  init?(_ file: SourceFile) {
    guard let bytes = file.bytes(0, min(file.identity.size, Self.longest)), bytes.count > 8,
      bytes.starts(with: [0x76, 0x2f, 0x31, 0x01])
    else { return nil }
    // The version's bit 12.
    hasFurtherParts = bytes[5] & 0x10 != 0
    var at = 8
    func text() -> String? {
      guard let end = bytes[at...].firstIndex(of: 0) else { return nil }
      defer { at = end + 1 }
      return String(decoding: bytes[at..<end], as: UTF8.self)
    }
    while let name = text(), !name.isEmpty, text() != nil, at + 4 <= bytes.count {
      let size = bytes[at..<at + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
      at += 4
      guard size <= bytes.count - at else { return nil }
      guard name == "channels" else {
        at += size
        continue
      }
      let end = at + size
      var channels: [String] = []
      while at < end, let channel = text(), !channel.isEmpty {
        channels.append(channel)
        // Its type, whether it is linear, and its sampling.
        at += 16
      }
      self.channels = channels
      return
    }
    return nil
  }

  private static let shown: Set = ["R", "G", "B", "A", "Y", "RY", "BY"]

  /// Whether there is a channel that gives a pixel its colour.
  var hasColours: Bool { channels.contains { $0 != "A" && Self.shown.contains($0) } }

  /// Names, for reports, of what no tile shows.
  var unshown: [String] {
    let others = channels.filter { !Self.shown.contains($0) }
    var names = others.isEmpty ? [] : ["\(others.count == 1 ? "channel" : "channels") \(Self.list(others))"]
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
      "is OpenEXR without channels R, G, B or Y (it has \(Self.list(channels))): name those that are to be "
      + "shown, for example with 'oiiotool FILE --ch \(choice.joined(separator: ",")) -o FILE2.exr'"
  }

  private static func list(_ names: [String]) -> String {
    names.prefix(8).joined(separator: ", ") + (names.count > 8 ? " and \(names.count - 8) more" : "")
  }
}
