/// The size of the pictures in an AVIF according to their own data, from which a decoder allocates memory. The file's
/// boxes may state another size. Nothing is decoded.
///
/// The boxes are those of ISO/IEC 14496-12 and 23008-12.
struct AVIFPictures {
  /// The largest width and height of any picture, in pixels.
  private(set) var width = 0
  private(set) var height = 0

  /// Reads the sizes. Returns nil if a required box is missing, duplicated or damaged. Also returns nil if the file
  /// contains other items than AV1 pictures, each in one piece, and their metadata. No header states the size of
  /// pictures of other coders, or of pictures that are composed of parts.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let meta = Self.box("meta", in: bytes[...]).map({ $0.dropFirst(4) }),
      let kinds = Self.box("iinf", in: meta).flatMap(Self.kinds),
      let places = Self.box("iloc", in: meta).flatMap(Self.places),
      kinds.values.allSatisfy({ ["av01", "Exif", "mime"].contains($0) }),
      let properties = Self.box("iprp", in: meta).flatMap({ Self.box("ipco", in: $0) }),
      let boxes = Self.boxes(in: properties)
    else { return nil }
    // Decoders also get the data in the configuration.
    for box in boxes where box.name == "av1C" {
      guard take(box.content.dropFirst(4)) else { return nil }
    }
    for (item, kind) in kinds where kind == "av01" {
      guard let place = places[item], place.upperBound <= bytes.count, take(bytes[place]) else { return nil }
    }
    guard width > 0 else { return nil }
  }

  private mutating func take(_ data: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard let sizes = AV1SequenceHeader.sizes(in: data) else { return false }
    for size in sizes { (width, height) = (max(width, size.width), max(height, size.height)) }
    return true
  }

  // MARK: Boxes

  private typealias Bytes = Slice<UnsafeRawBufferPointer>

  private static func boxes(in bytes: Bytes) -> [(name: String, content: Bytes)]? {
    var result: [(name: String, content: Bytes)] = []
    var rest = bytes
    while !rest.isEmpty {
      var reader = NumberReader(rest)
      guard var size = reader.next(4), let name = reader.name() else { return nil }
      // 1 means that 8 bytes with the size follow, 0 that the box extends to the end.
      if size == 1 {
        guard let long = reader.next(8) else { return nil }
        size = long
      } else if size == 0 {
        size = rest.count
      }
      let header = rest.count - reader.rest.count
      guard size >= header, size <= rest.count else { return nil }
      result.append((name, rest.prefix(size).dropFirst(header)))
      rest = rest.dropFirst(size)
    }
    return result
  }

  /// Returns the content of the box of that name; nil if there is not exactly one.
  private static func box(_ name: String, in bytes: Bytes) -> Bytes? {
    guard let found = boxes(in: bytes)?.filter({ $0.name == name }), found.count == 1 else { return nil }
    return found[0].content
  }

  /// Returns the type of each item, by its number.
  private static func kinds(_ list: Bytes) -> [Int: String]? {
    var reader = NumberReader(list)
    guard let version = reader.next(1), reader.next(3) != nil, reader.next(version == 0 ? 2 : 4) != nil,
      let entries = boxes(in: reader.rest)
    else { return nil }
    var kinds: [Int: String] = [:]
    for entry in entries {
      var reader = NumberReader(entry.content)
      guard entry.name == "infe", let version = reader.next(1), version == 2 || version == 3,
        reader.next(3) != nil, let item = reader.next(version == 2 ? 2 : 4), reader.next(2) != nil,
        let kind = reader.name(), kinds.updateValue(kind, forKey: item) == nil
      else { return nil }
    }
    return kinds
  }

  /// Returns the range of each item that is in the file in one piece.
  private static func places(_ list: Bytes) -> [Int: Range<Int>]? {
    var reader = NumberReader(list)
    guard let version = reader.next(1), version < 3, reader.next(3) != nil, let sizes = reader.next(2),
      let count = reader.next(version < 2 ? 2 : 4)
    else { return nil }
    func size(_ shift: Int) -> Int { sizes >> shift & 15 }
    var places: [Int: Range<Int>] = [:]
    var items: Set<Int> = []
    for _ in 0..<count {
      guard let item = reader.next(version < 2 ? 2 : 4),
        let method = version > 0 ? reader.next(2).map({ $0 & 15 }) : 0, reader.next(2) != nil,
        let base = reader.next(size(4)), let extents = reader.next(2)
      else { return nil }
      // If there are two places, some decoders take the first, others the last.
      guard items.insert(item).inserted else { return nil }
      // Numbers without bytes would allow any count.
      let extentSize = (version == 0 ? 0 : size(0)) + size(12) + size(8)
      guard extents <= 1 || extentSize > 0 else { return nil }
      for _ in 0..<extents {
        guard version == 0 || reader.next(size(0)) != nil, let offset = reader.next(size(12)),
          let length = reader.next(size(8))
        else { return nil }
        let (start, isTooLarge) = base.addingReportingOverflow(offset)
        guard !isTooLarge, start <= .max - length else { return nil }
        if method == 0, extents == 1 { places[item] = start..<start + length }
      }
    }
    return places
  }
}

/// A reader of consecutive big-endian numbers.
private struct NumberReader {
  private(set) var rest: Slice<UnsafeRawBufferPointer>

  init(_ bytes: Slice<UnsafeRawBufferPointer>) { rest = bytes }

  /// Returns the next number; nil if too few bytes are left, or the number is larger than any file.
  mutating func next(_ count: Int) -> Int? {
    guard rest.count >= count, count <= 8 else { return nil }
    let number = rest.prefix(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    rest = rest.dropFirst(count)
    return Int(exactly: number)
  }

  mutating func name() -> String? {
    guard rest.count >= 4 else { return nil }
    defer { rest = rest.dropFirst(4) }
    return String(decoding: rest.prefix(4), as: UTF8.self)
  }
}
