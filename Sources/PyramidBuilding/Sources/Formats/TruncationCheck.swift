import TileStorage
import ZigguratFiles

/// Files that end before the place that their own headers declare, where decoders go on without a word.
enum TruncationCheck {
  /// The damage of such a file, known without decoding it; nil if the file is whole, or its decoder reports its end.
  ///
  /// - Parameter loader: libvips' name of its loader.
  static func damage(ofFileAt path: String, _ loader: String?) -> SourceDamage? {
    guard let loader, ["ppmload", "magickload", "gifload", "pngload"].contains(loader),
      let file = try? SourceFile(path: path)
    else { return nil }
    switch loader {
    case "ppmload": return PNMHeader(file).flatMap { netpbm($0, missingRows: $0.missingRows) }
    case "gifload": return gif(file)
    case "pngload": return png(file)
    default: return magick(file)
    }
  }

  static func netpbm(_ header: PNMHeader, missingRows: Int) -> SourceDamage? {
    missingRows == 0
      ? nil
      : SourceDamage(
        .truncated, "the PNM file is cut off: \(missingRows) of \(header.height) rows are missing")
  }

  private static func gif(_ file: SourceFile) -> SourceDamage? {
    guard let header = GIFHeader(file, countsPixels: true) else { return nil }
    if let missing = header.missingPixels, missing > 0 {
      let all = header.frame.width * header.frame.height
      return SourceDamage(
        .error, "the GIF file is damaged: \(missing) of \(all) pixels of its first frame are missing")
    }
    guard header.isCutOff else { return nil }
    return header.mayLackFrames
      ? SourceDamage(
        .truncated,
        "the GIF file is cut off: it ends in or behind frame \(max(1, header.frames)), without a trailer")
      : SourceDamage(.warning, "the GIF file has no trailer")
  }

  /// The end chunk behind whole pixel data: libvips does not look for it in interlaced files.
  private static func png(_ file: SourceFile) -> SourceDamage? {
    guard let head = file.bytes(0, 29), head[28] == 1 else { return nil }
    var (place, hasData) = (8, false)
    while let chunk = PNGChunkHead(file.reader, at: place) {
      let isWhole = place + 12 + chunk.length <= file.identity.size
      switch chunk.name {
      case PNGChunk.end: return isWhole ? nil : cutOff("PNG", "the end of its last chunk is missing")
      case PNGChunk.data:
        guard isWhole else { return nil }
        hasData = true
      default: break
      }
      place += 12 + chunk.length
    }
    return hasData && place >= file.identity.size ? cutOff("PNG", "its last chunk is missing") : nil
  }

  // MARK: Formats that ImageMagick reads

  private static func magick(_ file: SourceFile) -> SourceDamage? {
    let start = file.bytes(atMost: 64)
    guard start.count > 30 else { return nil }
    if start.starts(with: [0x0a, 5, 1]) { return RunLengths.pcx(file) }
    if start.starts(with: "BM".utf8) { return BitmapRuns.damage(start, file) }
    let (format, end): (String, Int?) =
      if start.starts(with: [0x01, 0xda]) {
        ("SGI", SGIHeader(start).flatMap { sgi($0, file) })
      } else if start.starts(with: "8BPS".utf8) {
        ("PSD", photoshop(start, file))
      } else if start.starts(with: [0, 0, 1, 0]) || start.starts(with: [0, 0, 2, 0]) {
        ("ICO", icon(start, file))
      } else {
        ("", nil)
      }
    // Targa has no signature; no other format that ImageMagick may read begins so.
    if format.isEmpty { return RunLengths.targa(start, file) }
    guard let end, end > file.identity.size else {
      return format == "SGI" ? RunLengths.sgi(start, file) : nil
    }
    return cutOff(format, "\(end - file.identity.size) of \(end) bytes are missing")
  }

  private static func cutOff(_ format: String, _ what: String) -> SourceDamage {
    SourceDamage(.truncated, "the \(format) file is cut off: \(what)")
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int { ByteOrder.big.number(bytes) }

  /// Bytes of a table that are read.
  private static let maxTableSize = 64 << 20

  private static func sgi(_ header: SGIHeader, _ file: SourceFile) -> Int? {
    if !header.hasRuns { return 512 + header.width * header.rows * header.bytesPerSample }
    guard let streams = header.streams(in: file) else { return header.tableEnd }
    return streams.map(\.upperBound).max()
  }

  /// The Photoshop file format: four sections, and the picture of all layers.
  private static func photoshop(_ start: [UInt8], _ file: SourceFile) -> Int? {
    let isLarge = start[5] == 2
    let (bands, height, width) = (number(start[12..<14]), number(start[14..<18]), number(start[18..<22]))
    var place = 26
    for section in 0..<3 {
      let size = section == 2 && isLarge ? 8 : 4
      guard let length = file.bytes(place, size) else { return place + size }
      // The upper half of a length of 64 bits is 0 in every file that exists.
      place += size + number(length.suffix(4))
      guard place <= file.identity.size else { return place }
    }
    guard let coding = file.bytes(place, 2) else { return place + 2 }
    place += 2
    let rows = bands * height
    switch number(coding[...]) {
    case 0: return place + rows * ((width * number(start[22..<24]) + 7) / 8)
    case 1:
      // The lengths of the rows.
      let size = isLarge ? 4 : 2
      guard rows * size <= maxTableSize, let table = file.bytes(place, rows * size) else {
        return place + rows * size
      }
      let lengths = (0..<rows).map { row -> Int in number(table[row * size..<(row + 1) * size]) }
      return place + table.count + lengths.reduce(0, +)
    default: return nil
    }
  }

  /// The directory of an icon or a cursor, of the sizes and places of its pictures.
  private static func icon(_ start: [UInt8], _ file: SourceFile) -> Int? {
    let count = ByteOrder.little.number(start, at: 4, 2)
    guard let entries = file.bytes(6, count * 16) else { return 6 + count * 16 }
    return (0..<count).map { entry in
      let size = 16 * entry + 8
      return ByteOrder.little.number(entries, at: size, 4) + ByteOrder.little.number(entries, at: size + 4, 4)
    }.max()
  }
}
