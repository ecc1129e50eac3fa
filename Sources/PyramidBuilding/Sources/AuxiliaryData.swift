import ZigguratFiles
import ZigguratImaging

/// Data in files of phones and cameras that no tile shows.
enum AuxiliaryData {
  /// Bytes of a JPEG's header that are looked at: extended XMP may have any number.
  private static let maxHeaderSize = 4 << 20

  /// The names of such data, for reports.
  ///
  /// - Parameter image: the file's, from `Image.source`.
  static func names(in file: SourceFile, _ image: Image) -> [String] {
    let loader = Image.loader(ofPath: file.path)
    var known: [Range<Int>] = []
    let names: [String] =
      switch loader {
      case "jpegload": jpeg(file.handle, &known)
      case "heifload": image.unshownOfHEIF
      case "pngload": image.isAnimatedPNG ? ["frames of an animation"] : []
      case "jxlload":
        JPEGXLHeader(path: file.path).map {
          ($0.isAnimated ? ["frames of an animation"] : []) + extraChannels($0)
        } ?? []
      case "openexrload": EXRHeader(file)?.unshown ?? []
      case "jp2kload": JPEG2000Header(path: file.path)?.unshown ?? []
      case "magickload": further((IconDirectory(file)?.entries.count ?? 1) - 1, "size")
      case "ppmload": PNMHeader(file)?.hasFurtherPictures == true ? ["further pictures"] : []
      case "fitsload": further((FITSHeader(file)?.unitsWithData ?? 1) - 1, "unit")
      default: []
      }
    // The announced data are after the picture.
    return !names.isEmpty || !TrailingData.isBeforeData(file, loader, known: known)
      ? names : ["data behind its end"]
  }

  private static func further(_ count: Int, _ name: String) -> [String] {
    count < 1 ? [] : ["\(count) further \(name)\(count == 1 ? "" : "s")"]
  }

  private static func extraChannels(_ header: JPEGXLHeader) -> [String] {
    let count = header.extraChannels
    return count == 0 ? [] : ["\(count) extra \(count == 1 ? "channel" : "channels")"]
  }

  // MARK: JPEG

  /// A kind of data, and the parts of XMP or names of segments that announce it.
  private static let marks: [(name: String, texts: [String])] = [
    (
      "gain map",
      // Ultra HDR 1.0, ISO 21496-1, and Apple's.
      ["hdrgm:Version", "Semantic=\"GainMap\"", "urn:iso:std:iso:ts:21496:-1", "aux:hdrgainmap"]
    ),
    ("depth map", ["GDepth:Mime", "Semantic=\"Depth\"", "aux:depth", "aux:disparity"]),
    (
      "video of a motion photo",
      [
        "MotionPhoto=\"1\"", "MicroVideo=\"1\"", "Semantic=\"MotionPhoto\"", "MotionPhoto>1<",
        "MicroVideo>1<",
      ]
    ),
    // VR photos of Cardboard Camera.
    ("picture for the other eye", ["GImage:Mime", "GImage:Data"]),
    ("sound", ["GAudio:Mime", "GAudio:Data"]),
  ]

  /// - Parameter known: set to the places of all pictures that the file lists.
  private static func jpeg(_ file: ReadableFile, _ known: inout [Range<Int>]) -> [String] {
    var found: Set<String> = []
    var others = 0
    segments(of: file, from: 0) { segment, start in
      note(segment, &found)
      guard segment.starts(with: Array("MPF\0".utf8)) else { return }
      for picture in MultiPicture(Array(segment.dropFirst(4)))?.pictures(after: start + 4) ?? [] {
        known.append(picture.place)
        if picture.isPreview { continue }
        var own: Set<String> = []
        segments(of: file, from: picture.place.lowerBound) { segment, _ in note(segment, &own) }
        if own.isEmpty { others += 1 }
        found.formUnion(own)
      }
    }
    // Gain maps that the first picture's XMP announces are no further pictures.
    if !found.isEmpty { others = max(0, others - 1) }
    return marks.map(\.name).filter(found.contains)
      + (others == 0 ? [] : ["\(others) further \(others == 1 ? "picture" : "pictures")"])
  }

  private static func note(_ segment: [UInt8], _ found: inout Set<String>) {
    let isText =
      segment.starts(with: Array("http://ns.adobe.com/x".utf8)) || segment.starts(with: Array("urn:".utf8))
    guard isText else { return }
    for mark in marks where !found.contains(mark.name) {
      let isThere = mark.texts.contains { segment.firstRange(of: Array($0.utf8)) != nil }
      if isThere { found.insert(mark.name) }
    }
  }

  /// Calls `body` with the contents of each APP1 and APP2 segment before the first scan, and its place in the file.
  private static func segments(
    of file: ReadableFile, from start: Int, _ body: (_ segment: [UInt8], _ place: Int) -> Void
  ) {
    var at = start + 2
    while at < start + maxHeaderSize {
      let head = file.bytes(from: at, atMost: 4)
      guard head.count == 4, head[0] == 0xff else { return }
      if head[1] == 0xff {
        at += 1
        continue
      }
      let length = ByteOrder.big.number(head, at: 2, 2)
      guard head[1] != 0xda, head[1] != 0xd9, length >= 2 else { return }
      if head[1] == 0xe1 || head[1] == 0xe2 {
        let segment = file.bytes(from: at + 4, atMost: length - 2)
        guard segment.count == length - 2 else { return }
        body(segment, at + 4)
      }
      at += 2 + length
    }
  }
}

/// The index of a Multi-Picture file (CIPA DC-007, 5.2).
private struct MultiPicture {
  private let bytes: [UInt8]
  private let order: ByteOrder

  /// - Parameter bytes: from the byte order on.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 8 else { return nil }
    self.bytes = bytes
    order = bytes[0] == UInt8(ascii: "I") ? .little : .big
  }

  private func number(_ at: Int, _ count: Int) -> Int? {
    at >= 0 && at + count <= bytes.count ? order.number(bytes, at: at, count) : nil
  }

  /// The pictures behind the first one.
  ///
  /// - Parameter origin: of the byte order, from where the file counts them.
  func pictures(after origin: Int) -> [(place: Range<Int>, isPreview: Bool)] {
    guard let directory = number(4, 4), let count = number(directory, 2) else { return [] }
    for index in 0..<count {
      let field = directory + 2 + 12 * index
      guard number(field, 2) == 0xb002, let size = number(field + 4, 4), let first = number(field + 8, 4)
      else { continue }
      return (0..<min(size / 16, 64)).compactMap { entry in
        guard let kind = number(first + 16 * entry, 4), let length = number(first + 16 * entry + 4, 4),
          let offset = number(first + 16 * entry + 8, 4), offset > 0
        else { return nil }
        return (origin + offset..<origin + offset + length, kind & 0xff_ff00 == 0x01_0000)
      }
    }
    return []
  }
}
