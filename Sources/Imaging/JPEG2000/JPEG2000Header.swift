import ZigguratFiles

/// The parts of a JPEG 2000 file's header that libvips ignores (ITU-T T.800, annexes A and I).
package struct JPEG2000Header: Sendable {
  /// The enumerated colour space (I.5.3.3, and T.801, M.11.7.3.1); nil if there is none.
  private(set) var colourSpace: Int?
  /// The embedded ICC profile; nil if there is none, or an enumerated colour space precedes it.
  private(set) var profile: [UInt8]?
  /// Bits of each column of the palette (I.5.3.4); nil if there is no palette.
  private(set) var palette: [Int]?
  /// The image and tile size of the codestream (A.5.1); nil if it is not in the file.
  private(set) var size: Size?
  /// The entries of the channel definition box (I.5.3.6); empty if there is none.
  private var definitions: [ChannelDefinition] = []

  struct Size {
    let width, height: Int
    /// Whether the image does not begin at the reference grid's origin.
    let hasOffset: Bool
    /// Bits of each component.
    let bits: [Int]
    /// Whether the components differ in their resolution.
    let isSubsampled: Bool
  }

  private struct ChannelDefinition {
    let channel, type, association: Int

    /// Whether the channel is the alpha of all colours.
    var isAlpha: Bool { (type == 1 || type == 2) && association == 0 }
  }

  /// Bytes in which the header of the codestream is looked for.
  private static let maxLength = 1 << 16
  /// Bytes of the header box that are read. It contains the ICC profile.
  private static let maxBoxSize = 32 << 20

  /// Whether libvips 8.14 returns the samples of the picture. It does not if there is a palette, an offset, Y'CbCr, a
  /// component of fewer than 8 bits, or a component of another resolution than the first one.
  package var isReadByLibvips: Bool {
    guard let size else { return true }
    return palette == nil && !size.hasOffset && !size.isSubsampled && colourSpace != Self.sYCC
      && size.bits.allSatisfy { $0 >= 8 }
  }

  static let sYCC = 18
  private static let cmyk = 12
  private static let romm = 21

  /// Colour spaces that are read: CMYK, the second bi-level one, sRGB, gray, sYCC and ROMM RGB. OpenJPEG writes 0,
  /// which is the first bi-level one, for an unspecified colour space.
  private static let known: Set = [0, cmyk, 15, 16, 17, sYCC, romm]

  /// Names of the colour spaces that are not.
  private static let names = [
    1: "YCbCr(1)", 3: "YCbCr(2)", 4: "YCbCr(3)", 9: "PhotoYCC", 11: "CMY", 13: "YCCK",
    14: "CIELab", 19: "CIEJab", 20: "e-sRGB", 22: "YPbPr(1125/60)", 23: "YPbPr(1250/50)", 24: "e-sYCC",
  ]

  /// The name of a colour space that cannot be converted; nil if it can be.
  private var unknownColours: String? {
    if let space = profileSpace, !["GRAY", "RGB ", "CMYK"].contains(space) {
      return "\(space.split(separator: " ").joined()), as its profile says"
    }
    return colourSpace.flatMap { Self.known.contains($0) ? nil : Self.names[$0] ?? "colour space \($0)" }
  }

  /// The colour space of the profile's input (ICC.1:2010, 7.2.6); nil if there is no profile.
  private var profileSpace: String? {
    profile.flatMap { $0.count >= 20 ? String(decoding: $0[16..<20], as: UTF8.self) : nil }
  }

  fileprivate var isOfCMYK: Bool { colourSpace == Self.cmyk || profileSpace == "CMYK" }
  package var isOfROMM: Bool { colourSpace == Self.romm }

  /// Whether colours are multiplied by alpha: a channel of type 2.
  package var isPremultiplied: Bool { definitions.contains { $0.type == 2 } }

  /// The places of the channels to show, colours before alpha, of `count` channels in OpenJPEG's order; nil if all are
  /// shown in that order. A channel definition box decides which channel is alpha. Without one, the last of two or four
  /// channels is taken as alpha, since many encoders omit the box.
  package func shownChannels(of count: Int) -> [Int]? {
    guard count > 0, !definitions.isEmpty else { return nil }
    // OpenJPEG exchanges a colour with the channel at its position (opj_jp2_apply_cdef). A displaced channel is found
    // at its new position.
    var places = Array(0..<count)
    for definition in definitions where 0..<count ~= definition.channel {
      let wanted = definition.association - 1
      guard definition.type == 0, 0..<count ~= wanted,
        let from = places.firstIndex(of: definition.channel)
      else { continue }
      places.swapAt(from, wanted)
    }
    let colours = Set(
      definitions.filter { $0.type == 0 && 1...count ~= $0.association }.map { $0.association - 1 })
    let alpha = definitions.first(where: \.isAlpha).flatMap { places.firstIndex(of: $0.channel) }
    let shown = colours.sorted() + (alpha.map { [$0] } ?? [])
    return colours.isEmpty || shown == Array(0..<count) ? nil : shown
  }

  /// Names, for reports, of channels that no tile shows.
  package var unshown: [String] {
    guard let count = palette?.count ?? size?.bits.count, let shown = shownChannels(of: count) else {
      return []
    }
    let others = count - shown.count
    return others > 0 ? ["\(others) \(others == 1 ? "channel" : "channels") without a colour"] : []
  }

  /// The error about a picture whose colours cannot be shown; nil if they can be.
  package func refusal(path: String) -> ImagingError? {
    unknownColours.map { refused("colours in \($0)", path: path) }
  }

  func refused(_ reason: String, path: String) -> ImagingError {
    ImagingError(
      "jp2kload", path,
      message: "is JPEG 2000 with \(reason), which is not read here: convert it, for example with "
        + "'opj_decompress -i FILE -o FILE.tif'")
  }

  /// `nil` if the file is no JPEG 2000.
  package init?(path: String) {
    guard let file = ReadableFile(path: path) else { return nil }
    let start = file.bytes(atMost: 12)
    if start.starts(with: [0xff, 0x4f]) {
      size = Size(file.bytes(atMost: Self.maxLength))
      return
    }
    guard start.dropFirst(4).starts(with: "jP  ".utf8) else { return nil }
    var place = 0
    for _ in 0..<1000 {
      let head = file.bytes(from: place, atMost: 8)
      guard head.count == 8 else { return }
      let length = ByteOrder.big.number(head, at: 0, 4)
      switch String(decoding: head[4..<8], as: UTF8.self) {
      case "jp2h": readHeader(file.bytes(from: place + 8, atMost: min(length - 8, Self.maxBoxSize))[...])
      case "jp2c":
        size = Size(file.bytes(from: place + (length == 1 ? 16 : 8), atMost: Self.maxLength))
        return
      default: break
      }
      // 64-bit sizes do not occur before a codestream.
      guard length >= 8 else { return }
      place += length
    }
  }

  private mutating func readHeader(_ header: ArraySlice<UInt8>) {
    if let box = Self.boxes("cdef", in: header).first {
      // After their number six bytes each: the channel, its type, and its association.
      func number(_ at: Int) -> Int { ByteOrder.big.number(box[at..<at + 2]) }
      definitions = stride(from: box.startIndex + 2, to: box.endIndex - 5, by: 6).map { at in
        ChannelDefinition(channel: number(at), type: number(at + 2), association: number(at + 4))
      }
    }
    // The first of a known method (I.5.3.3): enumerated, or a profile, which JPX allows to be of any kind.
    for colours in Self.boxes("colr", in: header) where colours.count > 3 {
      let values = colours.dropFirst(3)
      if colours.first == 1, values.count >= 4 {
        colourSpace = ByteOrder.big.number(values.prefix(4))
      } else if colours.first == 2 || colours.first == 3 {
        profile = Array(values)
      } else {
        continue
      }
      break
    }
    if let table = Self.boxes("pclr", in: header).first, table.count >= 3 {
      let columns = Int(table[table.startIndex + 2])
      palette = table.dropFirst(3).prefix(columns).map { Int($0 & 0x7f) + 1 }
    }
  }

  /// Returns the contents of the boxes of that name, as far as the file has them.
  private static func boxes(_ name: String, in bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var found: [ArraySlice<UInt8>] = []
    var at = bytes.startIndex
    while at + 8 <= bytes.endIndex {
      let size = ByteOrder.big.number(bytes[at..<at + 4])
      // 64-bit sizes do not occur in a header.
      guard size >= 8 else { break }
      let end = min(at + size, bytes.endIndex)
      if bytes[at + 4..<at + 8].elementsEqual(name.utf8) { found.append(bytes[at + 8..<end]) }
      at += size
    }
    return found
  }
}

extension JPEG2000Header.Size {
  /// - Parameter bytes: the first bytes of the codestream.
  fileprivate init?(_ bytes: [UInt8]) {
    guard bytes.count >= 42, bytes.starts(with: [0xff, 0x4f, 0xff, 0x51]) else { return nil }
    func number(_ at: Int, _ count: Int) -> Int { ByteOrder.big.number(bytes, at: at, count) }
    let (left, top, count) = (number(16, 4), number(20, 4), number(40, 2))
    width = number(8, 4) - left
    height = number(12, 4) - top
    guard width > 0, height > 0, count > 0, bytes.count >= 42 + 3 * count else { return nil }
    hasOffset = left > 0 || top > 0
    let components = (0..<count).map { bytes[(42 + 3 * $0)..<(45 + 3 * $0)] }
    bits = components.map { Int($0[$0.startIndex] & 0x7f) + 1 }
    isSubsampled = components.contains { $0.dropFirst() != components[0].dropFirst() }
  }
}

extension Image {
  /// Returns a picture from the file of that header with its channels in order, its colour space and its profile.
  package func described(by header: JPEG2000Header) throws(ImagingError) -> Image {
    let channels = header.shownChannels(of: bands)
    let shown = try channels.map { (channels) throws(ImagingError) in try selected(bands: channels) } ?? self
    let space = header.isOfCMYK && shown.bands > 3 ? "cmyk" : interpretation
    // Set on a copy, since libvips' operations share their results.
    let image = try shown.said(toBe: space)
    if let profile = header.profile { image.setProfile(profile) }
    return image
  }
}
