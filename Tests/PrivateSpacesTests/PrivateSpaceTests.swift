import Foundation
import Testing
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratPrivateSpaces

@Suite struct PrivateSpaceTests {
  @Test func `an image that a library would hide stays in the space`() throws {
    let space = try SmallSpace()
    for id in [".a", "b/.c", "~/d"] as [ImageID] {
      try space.write(id, version: 1)
      let open = try space.open()
      #expect(throws: StorageError.self) { try PictureMove(library: space.library.path).unseal(id, of: open) }
      #expect(Reading(space, id, version: 1).right == Reading.pieces)
    }
    #expect(try space.open().ids().count == 3)
  }

  @Test func `nothing readable is on the disk`() throws {
    let space = try SmallSpace()
    try space.write("family/grandmother's letters", version: 1)
    let readable = [
      "grandmother", "family", "JFIF", "Exif", "tile", "vendor", "jpg", "note", "entries", "{\"",
    ]
    let names = space.folder.names()
    #expect(try space.names().count == 1)
    for name in names where !name.hasPrefix(".") {
      let bytes = Data(try space.bytes(name))
      for word in readable {
        #expect(!name.contains(word))
        // Three letters come up by chance, once in some five hundred runs.
        if word.utf8.count > 3 { #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word) in \(name)") }
      }
    }
  }

  @Test func `the same bytes sealed twice have nothing in common`() throws {
    let space = try SmallSpace()
    try space.write("one", version: 1)
    try space.write("two", version: 1)
    let one = try space.bytes(space.file(of: "one"))
    let two = try space.bytes(space.file(of: "two"))
    #expect(one.count == two.count)
    let same = zip(one, two).count { $0 == $1 }
    #expect(same < one.count / 32, "\(same) of \(one.count) bytes; by chance every 256th")
  }

  @Test func `an abandoned archive leaves nothing`() throws {
    let space = try SmallSpace()
    let before = space.folder.names().sorted()
    do {
      let writer = try space.open().makeWriter(id: "one", pyramid: SmallSpace.pyramid, format: .jpeg)
      try [1, 2, 3].withUnsafeBytes { try writer.append(tile: 0, $0, crc: 0) }
      writer.abandon()
    }
    #expect(space.folder.names().sorted() == before)
    #expect(try space.open().ids() == [])
  }

  @Test func `leftovers of this space are removed, and those of others are not`() throws {
    let space = try SmallSpace()
    try space.write("one", version: 1)
    // Killed after an archive had its name and before the index named it; and another space's archive.
    let orphan = space.keys.makeName()
    let foreign = SpaceKeys(spaceKey: .random(32)).makeName()
    for name in [orphan, foreign, "keyring", ".ziggurat-abcdef.partial"] {
      try space.put([1, 2, 3], into: name)
    }
    try space.open().prepare()
    #expect(try Set(space.names()) == ["keyring", foreign, space.file(of: "one")])
    #expect(Reading(space, "one", version: 1).right == Reading.pieces)
  }

  @Test func `an image does not replace another whose name differs by its Unicode form alone`() throws {
    let space = try SmallSpace()
    try space.write("\u{e9}", version: 1)
    #expect(refusal { try space.write("e\u{301}", version: 2) }?.contains("Unicode form") == true)
    #expect(Reading(space, "\u{e9}", version: 1).right == Reading.pieces)
    #expect(try space.names() == [space.file(of: "\u{e9}")])
    try space.write("\u{e9}", version: 3)
    #expect(Reading(space, "\u{e9}", version: 3).right == Reading.pieces)
  }

  @Test func `a removed image is gone`() throws {
    let space = try SmallSpace()
    try space.write("one", version: 1)
    try space.write("two", version: 2)
    let file = try space.file(of: "one")
    try space.open().remove(id: "one")
    #expect(try space.open().ids() == ["two"])
    #expect(try space.folder.read(file) == nil)
    try space.open().remove(id: "one")
    #expect(Reading(space, "two", version: 2).right == Reading.pieces)
  }

  @Test func `an origin belongs to one version, and not to a restored one`() throws {
    let space = try SmallSpace()
    let (photos, scans) = (
      SourceRoot(path: "/photos", isBook: false), SourceRoot(path: "/photos", isBook: true)
    )
    for id in ["one", "two", "three"] as [ImageID] { try space.write(id, version: 1) }
    try space.open().claim(["one": photos, "two": photos, "three": scans, "none": photos])
    #expect(try space.open().images(from: [photos]) == ["one", "two"])
    #expect(try space.open().images(from: [photos, scans]) == ["one", "three", "two"])
    let version = try space.open().version()
    try space.open().claim(["one": photos, "none": scans])
    #expect(try space.open().version() == version, "what is known is not written again")
    try space.write("two", version: 2)
    #expect(try space.open().images(from: [photos]) == ["one"])
    #expect(try space.open().trash(["one"]).errors.isEmpty)
    #expect(try space.open().ids() == ["three", "two"])
    let deletion = try #require(try space.open().deletions(since: 0).first)
    #expect(try space.open().restore(deletion.name, since: 0)?.restored == ["one"])
    #expect(try space.open().images(from: [photos]) == [])
    #expect(Reading(space, "one", version: 1).right == Reading.pieces)
  }

  @Test func `simultaneous writers lose nothing`() throws {
    let space = try SmallSpace()
    let defects = ThreadCount()
    DispatchQueue.concurrentPerform(iterations: 24) { number in
      // Each opens the space itself, as processes would.
      do { try space.write("image \(number % 12)", version: 7) } catch { defects.add() }
    }
    #expect(defects.value == 0)
    #expect(try space.open().ids().count == 12)
    for number in 0..<12 {
      #expect(Reading(space, "image \(number)", version: 7).right == Reading.pieces)
    }
    #expect(try space.names().count == 12)
  }

  @Test func `an open space sees the changes of others`() throws {
    let space = try SmallSpace()
    let open = try space.open()
    #expect(try open.ids() == [])
    try space.write("one", version: 1)
    #expect(try open.ids() == ["one"])
    let archive = try #require(try open.archive(ofID: "one"))
    try space.write("one", version: 2)
    // Readers of the old one finish on it.
    #expect(archive.copy(0) == SmallSpace.tile(0, version: 1))
    #expect(try open.archive(ofID: "one")?.copy(0) == SmallSpace.tile(0, version: 2))
  }

  @Test func `keys are locked in memory and excluded from core dumps`() throws {
    let key = LockedBytes.random(32)
    let address = UInt(bitPattern: key.bytes.baseAddress)
    // The mapping's flags: lo is locked, dd is not dumped (proc(5), VmFlags).
    var isInside = false
    var flags: Substring?
    // Foundation takes the file's size, 0, at its word unless it reads to the end.
    let maps = try #require(try FileHandle(forReadingAtPath: "/proc/self/smaps")?.readToEnd())
    for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
      if let range = line.split(separator: " ").first?.split(separator: "-"), range.count == 2,
        let low = UInt(range[0], radix: 16), let high = UInt(range[1], radix: 16)
      {
        isInside = (low..<high).contains(address)
      } else if isInside, line.hasPrefix("VmFlags:") {
        flags = line
      }
    }
    let names = try #require(flags).split(separator: " ")
    #expect(names.contains("lo"))
    #expect(names.contains("dd"))
    #expect(!names.contains("wr"))
    _ = key.bytes.count
  }

  /// The number of threads that met an error.
  private final class ThreadCount: @unchecked Sendable {
    // Sendable: the count is touched under the lock only.
    private let lock = NSLock()
    private var count = 0

    func add() { lock.withLock { count += 1 } }
    var value: Int { lock.withLock { count } }
  }

  @Test func `if a space is locked during a write, nothing is sealed with wiped keys`() throws {
    let small = try SmallSpace()
    try small.write("before", version: 1)
    let files = Set(small.folder.names())
    let space = try small.open()
    let pyramid = SmallSpace.pyramid
    let writer = try space.makeWriter(id: "during", pyramid: pyramid, format: .jpeg)
    for index in 0..<pyramid.tileCount {
      // Half of it under the keys, half of it under what is left of them.
      if index == pyramid.tileCount / 2 { space.wipeKeys() }
      try SmallSpace.tile(index, version: 1).withUnsafeBytes { try writer.append(tile: index, $0, crc: 0) }
    }
    #expect(refusal { _ = try writer.finish() }?.contains("the space is locked") == true)
    writer.abandon()
    #expect(Set(small.folder.names()) == files)
    for body in [
      { _ = try space.ids() }, { _ = try space.archive(ofID: "before") }, { try space.remove(id: "before") },
    ] as [() throws -> Void] {
      #expect(refusal(body)?.contains("the space is locked") == true)
    }
  }
}
