import Foundation
import Testing
import ZigguratImaging
import ZigguratTestSupport

@testable import PyramidBuilding
@testable import ZigguratSandbox

/// Directories that were made to take time or memory, or to end the process that reads them: the server reads them, too.
@Suite struct TIFFDirectoriesTests {
  /// Little-endian bytes of a classic TIFF (TIFF 6.0, section 2) as it grows.
  private struct File {
    var bytes: [UInt8] = Array("II*\0\0\0\0\0".utf8)

    static func number(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// Returns where the bytes lie.
    mutating func add(_ more: [UInt8]) -> Int {
      defer { bytes += more }
      return bytes.count
    }

    static func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
      number(tag, 2) + number(type, 2) + number(count, 4) + number(value, 4)
    }

    mutating func add(directory entries: [[UInt8]], next: Int = 0) -> Int {
      add(Self.number(entries.count, 2) + Array(entries.joined()) + Self.number(next, 4))
    }

    mutating func setNumber(_ value: Int, at place: Int) {
      bytes.replaceSubrange(place..<place + 4, with: Self.number(value, 4))
    }

    static let picture = [
      entry(256, 4, 1, 8), entry(257, 4, 1, 8), entry(258, 3, 1, 8), entry(259, 3, 1, 1),
      entry(262, 3, 1, 1), entry(273, 4, 1, 0), entry(277, 3, 1, 1), entry(278, 4, 1, 8),
      entry(279, 4, 1, 0),
    ]
  }

  private func directories(_ file: File) throws -> TIFFDirectories {
    let folder = try TemporaryFolder()
    return try #require(TIFFDirectories(SourceFile(path: folder.write("a.tif", file.bytes))))
  }

  @Test func `overlapping directories are read up to a number of entries`() throws {
    var file = File()
    // 64 directories of 4096 entries at each place where one of these begins, in which two bytes say 4096.
    let (pages, parts) = (40, 64)
    let entry = File.number(4096, 2) + File.number(259, 2) + File.number(3, 4) + File.number(3, 4)
    _ = file.add([UInt8](repeating: 0, count: 4))
    let region = file.add(Array(repeatElement(entry, count: pages * parts + 4200).joined()))
    var link = 4
    for page in 0..<pages {
      let places = (0..<parts).flatMap { File.number(region + 12 * (page * parts + $0), 4) }
      let list = file.add(places)
      let start = file.add(directory: File.picture + [File.entry(330, 4, parts, list)])
      file.setNumber(start, at: link)
      link = file.bytes.count - 4
    }
    let found = try directories(file)
    #expect(found.isCutShort)
    // All of them would be ten million entries.
    #expect(found.everything.count <= TIFFDirectories.maxFileEntries / 4096 + pages)
  }

  @Test func `the first value of a repeated tag counts`() throws {
    var file = File()
    let first = file.add(
      directory: File.picture + [
        File.entry(256, 4, 1, 99), File.entry(254, 4, 1, 1), File.entry(254, 4, 1, 4),
      ])
    file.setNumber(first, at: 4)
    let found = try #require(try directories(file).all.first)
    #expect(found.width == 8 && found.isReduced && !found.isMask)
  }

  @Test(arguments: [Int.max, 1 << 62, 768, 20])
  func `tables longer than ImageJ's data are ignored`(_ size: Int) throws {
    var file = File()
    let text = Array("ImageJ=1.53\nimages=2\nchannels=2\nhyperstack=true\n\0".utf8)
    let description = file.add(text)
    let counts = file.add(File.number(12, 8) + File.number(size, 8) + File.number(size, 8))
    let data = file.add(Array("IJIJluts".utf8) + [0, 0, 0, 2] + [UInt8](repeating: 0, count: 8))
    let second = file.add(directory: File.picture)
    let first = file.add(
      directory: File.picture + [
        File.entry(270, 2, text.count, description), File.entry(50838, 16, 3, counts),
        File.entry(50839, 1, 20, data),
      ], next: second)
    file.setNumber(first, at: 4)
    let found = try directories(file)
    let planes = try #require(ImageJPlanes(found.all[0], pages: found.all.count))
    #expect(planes.channels.count == 2)
    #expect(planes.channels.allSatisfy { $0.colour == nil })
  }

  /// Returns the contents of a file of a large picture and a small one, whose fields of text are these.
  private func contents(
    large: [UInt8] = Array("Slide\0".utf8), fields: [(tag: Int, type: Int, text: [UInt8])],
    small side: Int = 100
  ) throws -> SourceContents {
    var file = File()
    var link = 4
    let small = fields
    for (width, fields) in [(600, [(tag: 270, type: 2, text: large)]), (side, small)] {
      let entries = fields.map { field in
        let isInline = field.text.count <= 4
        let value = field.text.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        return File.entry(field.tag, field.type, field.text.count, isInline ? value : file.add(field.text))
      }
      let sides = [File.entry(256, 4, 1, width), File.entry(257, 4, 1, width)]
      let start = file.add(directory: sides + File.picture.dropFirst(2) + entries)
      file.setNumber(start, at: link)
      link = file.bytes.count - 4
    }
    return SourceContents(try directories(file))
  }

  @Test func `all strings of a field are read, in the encodings that programs use`() throws {
    let little = "Label".utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
    let big = "Label".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    for text in [
      Array("Label\0".utf8), Array("\0Label\0".utf8), Array("ACME\0label 100x100\0".utf8),
      [0xff, 0xfe] + little, [0xfe, 0xff] + big, little, big, little + [0, 0], [0xff, 0xfe] + little + [0],
      [0xef, 0xbb, 0xbf] + Array("Label\0".utf8), Array("ＬＡＢＥＬ".utf8),
    ] {
      for type in [1, 2, 7, 129] {
        let contents = try contents(fields: [(270, type, text)])
        #expect(contents.leftOut.map(\.role) == [.label] && contents.pages == [0], "\(text)")
      }
    }
    let named = try contents(fields: [(285, 2, Array("S21\0label\0".utf8))])
    #expect(named.leftOut.map(\.role) == [.label])
    let repeated = try contents(fields: [(270, 2, Array("Slide\0".utf8)), (270, 2, Array("Label\0".utf8))])
    #expect(repeated.leftOut.map(\.role) == [.label])
  }

  @Test func `a small picture with an unreadable description is left out`() throws {
    let long = Array(repeating: UInt8(ascii: "x"), count: (1 << 20) + 5) + Array("\nImageType: Label\0".utf8)
    for fields in [
      // Too long, of a type that is none of text, half a code unit.
      [(tag: 270, type: 2, text: long)], [(270, 3, Array("Label\0".utf8))],
      [(270, 2, [0xff, 0xfe, 0, 0xd8, 65, 0])],
      [(269, 12, Array("Label\0".utf8))],
    ] {
      let contents = try contents(fields: fields)
      #expect(contents.leftOut.map(\.role) == [.unread] && contents.pages == [0])
      #expect(contents.omitted == [PictureRole.unread.rawValue])
      // A picture of nearly the same size is no label.
      let alike = try self.contents(fields: fields, small: 500)
      #expect(alike.pages == [0, 1])
    }
  }

  @Test func `descriptions above the read limit make small pictures suspect`() throws {
    let vast = Array(repeating: UInt8(ascii: "x"), count: 16 << 20)
    var file = File()
    let text = file.add(vast)
    let label = file.add(Array("a label of this slide\0".utf8))
    var link = 4
    for (width, count, place) in [(600, vast.count, text), (500, vast.count, text), (100, 22, label)] {
      let sides = [File.entry(256, 4, 1, width), File.entry(257, 4, 1, width)]
      let start = file.add(directory: sides + File.picture.dropFirst(2) + [File.entry(270, 2, count, place)])
      file.setNumber(start, at: link)
      link = file.bytes.count - 4
    }
    let contents = SourceContents(try directories(file))
    #expect(contents.pages == [0, 1])
    #expect(contents.leftOut.map(\.role) == [.unread])
  }

  @Test func `ordinary captions of small pictures stay`() throws {
    for text in ["Étiquette de vin", "Labelled cells", "Overviewed", "Caf\u{e9}", ""] {
      let bytes = Array(text.utf8) + [0]
      #expect(try contents(fields: [(270, 2, bytes)]).pages == [0, 1], "\(text)")
    }
    // Latin-1, and a single letter before zeros.
    #expect(try contents(fields: [(270, 2, [0x43, 0xe9, 0])]).pages == [0, 1])
    #expect(try contents(fields: [(270, 2, [0x43, 0, 0, 0, 0, 0])]).pages == [0, 1])
  }

  @Test func `parts that no rendering shows are named`() throws {
    // A part of the same size, a level of half the size that is not marked, one that is, and a larger one that is marked.
    for (side, marks, names) in [
      (8, 0, ["1 further picture"]), (4, 0, []), (4, 1, []), (16, 1, ["1 further picture"]), (3, 4, []),
    ] {
      var file = File()
      let sides = [File.entry(256, 4, 1, side), File.entry(257, 4, 1, side), File.entry(254, 4, 1, marks)]
      let part = file.add(directory: sides + File.picture.dropFirst(2))
      let first = file.add(directory: File.picture + [File.entry(330, 4, 1, part)])
      file.setNumber(first, at: 4)
      #expect(
        SourceContents(try directories(file)).unshown(hasPartAsMask: false) == names, "\(side) \(marks)")
    }
  }

  @Test func `impossible image dimensions are rejected with their tag`() throws {
    var file = File()
    let first = file.add(
      directory: [
        File.entry(256, 4, 1, 3_000_000_000), File.entry(257, 4, 1, 16), File.entry(258, 3, 1, 8),
        File.entry(259, 3, 1, 1), File.entry(262, 3, 1, 1), File.entry(277, 3, 1, 1),
        File.entry(278, 4, 1, 16), File.entry(279, 4, 1, 0), File.entry(273, 4, 1, 0),
      ].sorted { $0[0] < $1[0] })
    file.setNumber(first, at: 4)
    let folder = try TemporaryFolder()
    let path = try folder.write("wide.tif", file.bytes)
    let error = #expect(throws: ImagingError.self) {
      _ = try Image.source(path: path, access: .sequential)
    }
    #expect(error?.message.contains("ImageWidth of 3000000000") == true, "\(error?.message ?? "")")
  }
}
