import Testing

@testable import TileStorage

/// AVIFs as no encoder writes them, made box by box (ISO/IEC 14496-12, 8.11): what they say of where their pictures
/// are leads nowhere, or to what every decoder reads.
@Suite struct AVIFPicturesTests {
  /// An item's entry in `iloc`; as many bytes for each number as the file's `widths` say.
  struct Place {
    var item = 1
    var base: UInt64 = 0
    var extents: [(offset: UInt64, length: UInt64)]
    /// The declared number of extents, if it differs from the real one.
    var extentCount: Int?
    /// 1: in the `idat` box, and not in the file.
    var method = 0
  }

  /// Bytes of an offset, a length, a base and an index.
  struct Widths {
    var (offset, length, base, index) = (8, 8, 8, 0)
  }

  private static func number(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { $0 < count - 8 ? 0 : UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
  }

  private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
    number(UInt64(8 + content.count), 4) + name.utf8 + content
  }

  /// A sequence header of a still picture, alone.
  private static func picture(_ width: Int, _ height: Int) -> [UInt8] {
    // Still picture, reduced header, level 0, sixteen bits for each side.
    let fields = [
      (0, 3), (1, 1), (1, 1), (0, 5), (15, 4), (15, 4), (width - 1, 16), (height - 1, 16), (0, 6),
    ]
    let bits = fields.flatMap { value, count in (0..<count).reversed().map { value >> $0 & 1 } }
    let bytes = stride(from: 0, to: bits.count, by: 8).map { at in
      bits[at..<at + 8].reduce(UInt8(0)) { $0 << 1 | UInt8($1) }
    }
    return [0x0a, UInt8(bytes.count)] + bytes
  }

  private static func file(
    _ data: [UInt8], version: Int = 1, widths: Widths = Widths(), items: [Int] = [1], count: UInt64? = nil,
    _ places: (_ data: UInt64) -> [Place]
  ) -> [UInt8] {
    func iloc(_ places: [Place]) -> [UInt8] {
      let number = Self.number
      var bytes = number(UInt64(version) << 24, 4)
      bytes += [UInt8(widths.offset << 4 | widths.length), UInt8(widths.base << 4 | widths.index)]
      bytes += number(count ?? UInt64(places.count), version < 2 ? 2 : 4)
      for place in places {
        bytes += number(UInt64(place.item), version < 2 ? 2 : 4)
        if version > 0 { bytes += number(UInt64(place.method), 2) }
        bytes += number(0, 2) + number(place.base, widths.base)
        bytes += number(UInt64(place.extentCount ?? place.extents.count), 2)
        for (offset, length) in place.extents {
          if version > 0 { bytes += number(0, widths.index) }
          bytes += number(offset, widths.offset) + number(length, widths.length)
        }
      }
      return box("iloc", bytes)
    }
    func head(_ places: [Place]) -> [UInt8] {
      let lines = items.flatMap { item in
        box("infe", number(2 << 24, 4) + number(UInt64(item), 2) + number(0, 2) + "av01\0".utf8)
      }
      let meta =
        box("hdlr", number(0, 8) + "pict".utf8 + number(0, 13)) + box("pitm", number(0, 4) + number(1, 2))
        + iloc(places) + box("iinf", number(0, 4) + number(UInt64(items.count), 2) + lines)
        + box("iprp", box("ipco", box("av1C", [0x81, 0, 0, 0])) + box("ipma", number(0, 8)))
      return box("ftyp", "avif".utf8 + number(0, 4) + "avifmif1".utf8) + box("meta", number(0, 4) + meta)
    }
    // As long whatever the numbers are.
    let start = UInt64(head(places(0)).count + 8)
    return head(places(start)) + box("mdat", data)
  }

  private func size(_ file: [UInt8]) -> [Int]? {
    file.withUnsafeBytes { AVIFPictures($0) }.map { [$0.width, $0.height] }
  }

  private static let small = picture(64, 48)

  @Test(arguments: [0, 1, 2], [0, 4, 8])
  func `the crafted file is an AVIF`(version: Int, base: Int) {
    let widths = Widths(offset: 4, length: 4, base: base, index: version == 0 ? 0 : 4)
    let file = Self.file(Self.small, version: version, widths: widths) {
      [Place(extents: [($0, UInt64(Self.small.count))])]
    }
    #expect(size(file) == [64, 48])
    #expect(file.withUnsafeBytes { TileFormat.avif.defect(ofTile: $0, width: 64, height: 48) } == nil)
    if base > 0 {
      let moved = Self.file(Self.small, version: version, widths: widths) {
        [Place(base: $0 &- 3, extents: [(3, UInt64(Self.small.count))])]
      }
      #expect(size(moved) == [64, 48])
    }
  }

  @Test(
    arguments: [
      (0, 1), (1, 0), (UInt64(Int.max), 0), (0, UInt64(Int.max)), (1 << 63, 0), (0, 1 << 63), (.max, 0),
      (0, .max),
      (.max, .max), (1 << 32, 0), (0, 1 << 32), (UInt64(Int.max) - 200, 400),
    ] as [(UInt64, UInt64)])
  func `an extent beyond the file is ignored`(further: UInt64, longer: UInt64) {
    let file = Self.file(Self.small) {
      [Place(extents: [($0 &+ further, UInt64(Self.small.count) &+ longer)])]
    }
    #expect(size(file) == nil)
  }

  @Test(
    arguments: [(.max, 1), (UInt64(Int.max), 1), (1 << 63, 1 << 63), (.max, .max), (1, UInt64(Int.max))]
      as [(UInt64, UInt64)])
  func `an overflow of base and offset is ignored`(base: UInt64, offset: UInt64) {
    let file = Self.file(Self.small) { _ in
      [Place(base: base, extents: [(offset, UInt64(Self.small.count))])]
    }
    #expect(size(file) == nil)
    // Nor may the sum come out at the picture.
    let around = Self.file(Self.small) { start in
      [Place(base: base, extents: [(start &- base, UInt64(Self.small.count))])]
    }
    #expect(size(around) == (base == 1 ? [64, 48] : nil))
  }

  @Test func `an empty extent is no picture`() {
    #expect(size(Self.file(Self.small) { [Place(extents: [($0, 0)])] }) == nil)
    #expect(size(Self.file(Self.small) { _ in [Place(extents: [])] }) == nil)
  }

  @Test func `a picture in pieces is ignored, overlapping or not`() {
    let count = UInt64(Self.small.count)
    for second: UInt64 in [0, 1, 5] {
      let file = Self.file(Self.small) { [Place(extents: [($0, 5), ($0 + second, count - second)])] }
      #expect(size(file) == nil)
    }
  }

  @Test func `overlapping pictures are each checked`() {
    let (small, large) = (Self.small, Self.picture(9000, 7000))
    let data = small + large
    let file = Self.file(data, items: [1, 2]) { start in
      [
        Place(item: 1, extents: [(start, UInt64(small.count))]),
        Place(item: 2, extents: [(start, UInt64(data.count))]),
      ]
    }
    #expect(size(file) == [9000, 7000])
  }

  @Test(arguments: [false, true])
  func `an item with two locations has none`(isLargeFirst: Bool) {
    let (small, large) = (Self.small, Self.picture(9000, 7000))
    let file = Self.file(small + large) { start in
      let places = [
        Place(extents: [(start, UInt64(small.count))]),
        Place(extents: [(start + UInt64(small.count), UInt64(large.count))]),
      ]
      return isLargeFirst ? places.reversed() : places
    }
    // The decoder that tiles are given to takes the first.
    #expect(size(file) == nil)
    #expect(
      file.withUnsafeBytes { TileFormat.avif.defect(ofTile: $0, width: 64, height: 48) }
        == "is no image/avif of plain AV1 pictures")
    let elsewhere = Self.file(small) { start in
      [
        Place(extents: [(0, 100)], method: 1),
        Place(extents: [(start, UInt64(small.count))]),
      ]
    }
    #expect(size(elsewhere) == nil)
  }

  @Test(arguments: [0, 1, 2], [UInt64(0xffff), 0xffff_ffff, 2])
  func `a declared count above the number of items is ignored`(version: Int, count: UInt64) {
    let file = Self.file(Self.small, version: version, count: count) {
      [Place(extents: [($0, UInt64(Self.small.count))])]
    }
    #expect(size(file) == nil)
  }

  // The clock runs while a test waits for its turn, on a busy machine for minutes; 4 billion take more.
  @Test(.timeLimit(.minutes(30)), arguments: [0, 1, 2])
  func `extents without numbers are not counted`(version: Int) {
    let nothing = Widths(offset: 0, length: 0, base: 8, index: 0)
    // Would each count, these were 4 billion.
    let file = Self.file(Self.small, version: version, widths: nothing) { start in
      (1...65535).map { Place(item: $0, base: start, extents: [], extentCount: 0xffff) }
    }
    #expect(size(file) == nil)
  }

  @Test(arguments: [1, 2, 3, 5, 7, 9, 12, 15])
  func `numbers of odd lengths are read, or rejected`(width: Int) {
    let widths = Widths(offset: width, length: 8, base: 0, index: 0)
    let file = Self.file(Self.small, widths: widths) { [Place(extents: [($0, UInt64(Self.small.count))])] }
    #expect(size(file) == (width > 8 ? nil : [64, 48]))
  }

  @Test(
    arguments: [0, 1, 7, 0x7fff_ffff, 0xffff_ffff] as [UInt64],
    ["ftyp", "meta", "iloc", "iinf", "infe", "mdat"])
  func `a box with a wrong size is ignored`(size: UInt64, name: String) throws {
    var file = Self.file(Self.small) { [Place(extents: [($0, UInt64(Self.small.count))])] }
    let at = try #require(file.firstRange(of: Array(name.utf8))).lowerBound - 4
    file.replaceSubrange(at..<at + 4, with: Self.number(size, 4))
    // What comes last may go on to the end of what it stands in, and anything may stand in `meta`.
    let goesOn = size == 0 && ["mdat", "infe", "meta"].contains(name)
    #expect(self.size(file) == (goesOn ? [64, 48] : nil))
    file.insert(contentsOf: Self.number(.max - size, 8), at: at + 8)
    file.replaceSubrange(at..<at + 4, with: Self.number(1, 4))
    #expect(self.size(file) == nil)
  }
}
