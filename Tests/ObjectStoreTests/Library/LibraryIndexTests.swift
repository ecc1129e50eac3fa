import Synchronization
import Testing
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratObjectStore
@testable import ZigguratObjectStoreSupport

/// A library's directory beside objects that are not the library's, and in a store that loses what it was sent.
struct LibraryIndexTests {
  private static let folder = "some/library/directory/"

  private struct Setting {
    let store = FuzzingStore(SplitMix(1))
    let strays: StrayObjects
    let reports: Reports
    let directory: LibraryIndex

    init() throws {
      let settings = try ObjectSettings([
        "AWS_ENDPOINT_URL_S3": store.endpoint, "AWS_ACCESS_KEY_ID": "K", "AWS_SECRET_ACCESS_KEY": "s",
      ]) { _ in nil }
      let address = ObjectAddress("s3://\(FuzzingStore.bucket)/some/library")!
      let client = try #require(ObjectClient(address, settings))
      let reports = Reports()
      strays = StrayObjects { reports.add($0) }
      self.reports = reports
      directory = LibraryIndex(address, settings, reading: client, limits: .server, strays: strays)
    }

    func image(_ name: String) -> [UInt8] {
      let record = ListedRecord(
        digest: SHA256.of(Array(name.utf8)), etag: "\"e1\"", byteCount: 9, generation: 5,
        pyramid: Pyramid(imageSize: PixelSize(width: 600, height: 400)!, tileSize: 256)!, format: .jpeg,
        text: .nothing, build: 0..<0, metadata: 0..<0)
      return IndexEntry.text(
        image: ImageID(name)!, record, build: Array("{}".utf8),
        metadata: Array("{\"title\":\"\(name)\"}".utf8))
    }

    func put(_ name: String, _ lines: [[UInt8]]) {
      store.put(Array((folder + name).utf8), IndexSegment.bytes(lines))
    }

    var segments: [String] {
      store.keys.map { String(decoding: $0, as: UTF8.self) }.filter { $0.hasPrefix(folder) }.sorted()
    }

    var ids: [String] { directory.current.records.keys.map(\.text).sorted() }
  }

  private final class Reports: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  /// As a version of the program left it that took a copy for a segment and died when it removed that: the segments
  /// that the new one holds are gone, and its lines name what is no segment.
  @Test(arguments: ["a//x", "1700000000000-ab (1)", "tab\tx", "\u{1}", "1700000000000-AB"])
  func `an index that names a stray object as a segment is read and rewritten`(name: String)
    throws
  {
    let setting = try Setting()
    defer { setting.store.stop() }
    setting.put(
      "1700000000001-cd-whole", [IndexEntry.text(holds: name), setting.image("one"), setting.image("two")])
    setting.store.put(Array((Self.folder + name).utf8), IndexSegment.bytes([setting.image("stray")]))
    try setting.directory.refresh()
    #expect(setting.ids == ["one", "two"])
    try setting.directory.compact()
    #expect(setting.ids == ["one", "two"])
    // The old one is replaced, and what it named stays.
    let segments = setting.segments
    #expect(segments.count == 2 && segments.contains(Self.folder + name))
    #expect(!segments.contains(Self.folder + "1700000000001-cd-whole"))
    #expect(!setting.directory.current.isOdd)
    try setting.directory.compact()
    #expect(setting.segments == segments)
    #expect(setting.reports.all.count == 1 && setting.strays.count == 1)
  }

  @Test func `keys that are not UTF-8 or too long are skipped and reported once`() throws {
    let setting = try Setting()
    defer { setting.store.stop() }
    let below = Array(Self.folder.utf8)
    for key in [[0xff, 0xfe], [0x31, 0x80], [UInt8](repeating: 0x7e, count: 1024 - below.count)] {
      setting.store.put(below + key, [1, 2, 3])
    }
    setting.store.put(below, [])
    setting.put("1700000000001-cd", [setting.image("one")])
    for _ in 0..<3 { try setting.directory.refresh() }
    try setting.directory.add([setting.image("two")])
    #expect(setting.ids == ["one", "two"])
    #expect(setting.strays.count == 4)
    #expect(setting.reports.all.count == 1)
    let report = try #require(setting.reports.all.first)
    #expect(report.contains("directory/%FF%FE'") && !report.utf8.contains { $0 < 0x20 })
  }

  @Test(arguments: [true, false])
  func `a rewritten index that the store lost or damaged replaces nothing`(isLost: Bool) throws {
    let setting = try Setting()
    defer { setting.store.stop() }
    setting.put("1700000000001-cd", [setting.image("one")])
    setting.put("1700000000002-cd", [setting.image("two")])
    setting.store.with { $0.always = isLost ? .lost : .spoiled }
    #expect(throws: StorageError.self) { try setting.directory.compact() }
    setting.store.with { $0.always = nil }
    #expect(setting.segments == ["1700000000001-cd", "1700000000002-cd"].map { Self.folder + $0 })
    try setting.directory.compact()
    #expect(setting.segments.count == 1 && setting.ids == ["one", "two"])
  }

  @Test func `names of segments are those that builders assign`() {
    for (name, isOne) in [
      ("1700000000000-ab", true), ("1700000000000-0", true), ("1700000000000-ffffffffffffffff-whole", true),
      ("1700000000000-", false), ("1700000000000-00ab", false), ("1700000000000-AB", false), ("", false),
      ("1700000000000-ab-whole-whole", false), ("1700000000000-ab (1)", false), ("170000000000-ab", false),
      ("17000000000000-ab", false), ("+700000000000-ab", false), ("9999999999999-ab", false),
      ("1700000000000-10000000000000000", false), ("1700000000000-+b", false), ("١٧٠٠٠٠٠٠٠٠٠٠٠-ab", false),
    ] { #expect(IndexSegment.isName(name) == isOne, "\(name)") }
    for last in [nil, "1700000000000-ab", "8999999999998-ab", "8999999999999-ab", "zzz"] {
      #expect(IndexSegment.isName(IndexSegment.name(after: last, isWhole: false)))
    }
    let digest = String(repeating: "0f", count: 32)
    for (name, isOne) in [
      ("0f/\(digest).szi", true), ("0e/\(digest).szi", false), ("0f/\(digest.uppercased()).szi", false),
      ("0f/\(digest).szi ", false), ("0f/\(digest)", false), ("", false), ("0f/", false),
    ] { #expect(ListedRecord.isName(name) == isOne, "\(name)") }
  }
}
