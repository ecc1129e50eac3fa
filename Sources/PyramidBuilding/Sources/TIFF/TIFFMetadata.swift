import ZigguratFiles

/// The metadata of a TIFF's pictures as their directories hold it: each page has its own.
///
/// Exiv2 reads the first directory of a classic TIFF only, and no BigTIFF.
extension TIFFDirectories {
  /// Tags of a picture's directory that describe it: `ImageDescription`, `Artist`, XMP, `Copyright`, IPTC, Photoshop's,
  /// which may hold IPTC, and those of Windows.
  private static let descriptiveTags: Set = [
    270, 315, 700, 33432, 33723, 34377, 40091, 40092, 40093, 40094, 40095,
  ]
  /// XMP, IPTC, and Photoshop's, which may hold IPTC.
  static let packetTags: Set = [700, 33723, 34377]
  /// `DateTimeOriginal`, `OffsetTimeOriginal` and `UserComment` of EXIF.
  private static let exifTags: Set = [36867, 36881, 37510]
  private static let (exifDirectory, interoperability) = (34665, 40965)
  /// Bytes of all values together.
  private static let maxMetadataSize = 16 << 20

  /// Returns a classic TIFF file with the metadata of a picture and nothing else; `nil` if the picture has none.
  ///
  /// XMP and IPTC that only the first directory has describe the whole file, as exiftool writes them.
  ///
  /// - Parameter page: the picture's directory, counted from 0.
  func metadata(ofDirectory page: Int) -> [UInt8]? {
    guard all.indices.contains(page) else { return nil }
    var room = Self.maxMetadataSize
    let entries = entries(at: all[page].offset)
    var own = values(entries, Self.descriptiveTags, &room)
    let exif = values(self.entries(at: pointer(Self.exifDirectory, in: entries)), Self.exifTags, &room)
    if page > 0, all[0].hasPacket, !all.dropFirst().contains(where: \.hasPacket) {
      own += values(self.entries(at: all[0].offset), Self.packetTags, &room)
    }
    guard !own.isEmpty || !exif.isEmpty else { return nil }
    let head = Array((order == .little ? "II" : "MM").utf8) + order.bytes(42, 2)
    var directories: [UInt8] = []
    if !exif.isEmpty {
      own.append(Value(tag: Self.exifDirectory, type: 4, count: 1, bytes: order.bytes(8, 4)))
      append(exif, to: &directories)
    }
    let first = 8 + directories.count
    append(own.sorted { $0.tag < $1.tag }, to: &directories)
    return head + order.bytes(first, 4) + directories
  }

  /// Whether the EXIF of a picture says that its colours are Adobe RGB (1998).
  ///
  /// - Parameter page: the picture's directory, counted from 0.
  func isAdobeRGB(directory page: Int) -> Bool {
    guard all.indices.contains(page) else { return false }
    let exif = entries(at: pointer(Self.exifDirectory, in: entries(at: all[page].offset)))
    var room = 1 << 10
    if let space = values(exif, [40961], &room).first, space.type == 3,
      order.number(space.bytes.prefix(2)) == 2
    {
      return true
    }
    let index = values(entries(at: pointer(Self.interoperability, in: exif)), [1], &room).first
    return index?.bytes.starts(with: "R03".utf8) ?? false
  }

  private struct Value {
    let tag, type, count: Int
    let bytes: [UInt8]
  }

  /// Returns the entries of a directory; none if there is no directory.
  private func entries(at offset: Int?) -> [TIFFEntry] {
    let countSize = isBig ? 8 : 2
    guard let offset, offset > 0, let count = reader.bytes(offset, countSize).map(order.number),
      count <= Self.maxEntries,
      let bytes = reader.bytes(offset + countSize, count * TIFFEntry.byteCount(isBig: isBig))
    else { return [] }
    return TIFFEntry.all(in: bytes, order, isBig: isBig)
  }

  /// Returns the place of the directory that a tag leads to; `nil` if there is no such tag.
  private func pointer(_ tag: Int, in entries: [TIFFEntry]) -> Int? {
    var room = 8
    return values(entries, [tag], &room).first.map { order.number($0.bytes) }
  }

  /// Returns the values of these tags, the first of each, in the order of the tags.
  ///
  /// - Parameter room: bytes that may yet be read.
  private func values(_ entries: [TIFFEntry], _ tags: Set<Int>, _ room: inout Int) -> [Value] {
    var found: [Int: Value] = [:]
    for entry in entries where tags.contains(entry.tag) && found[entry.tag] == nil {
      guard let size = TIFFEntry.sizes[entry.type], entry.count > 0, entry.count <= room / size else {
        continue
      }
      let length = entry.count * size
      let bytes =
        length <= entry.inline.count
        ? Array(entry.inline.prefix(length)) : reader.bytes(order.number(entry.inline), length)
      guard let bytes else { continue }
      room -= length
      found[entry.tag] = Value(tag: entry.tag, type: entry.type, count: entry.count, bytes: bytes)
    }
    return found.values.sorted { $0.tag < $1.tag }
  }

  /// Appends a directory without a successor, and its values, to the data after a file's header of 8 bytes.
  private func append(_ values: [Value], to bytes: inout [UInt8]) {
    // A classic TIFF has no type of 8-byte integers.
    let values = values.filter { $0.type <= 13 }
    var next = 8 + bytes.count + 2 + 12 * values.count + 4
    var further: [UInt8] = []
    bytes += order.bytes(values.count, 2)
    for value in values {
      bytes += order.bytes(value.tag, 2) + order.bytes(value.type, 2) + order.bytes(value.count, 4)
      if value.bytes.count <= 4 {
        bytes += value.bytes + [UInt8](repeating: 0, count: 4 - value.bytes.count)
      } else {
        bytes += order.bytes(next, 4)
        // Values begin at even places (TIFF 6.0, section 2).
        let padded = value.bytes + [UInt8](repeating: 0, count: value.bytes.count % 2)
        further += padded
        next += padded.count
      }
    }
    bytes += order.bytes(0, 4) + further
  }
}
