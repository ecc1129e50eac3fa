import Foundation
import Testing
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratPrivateSpaces

/// Returns the file's data that are visible without a password: size and times.
@Suite struct TracesTests {
  private static func status(_ space: SmallSpace, _ name: String) -> stat {
    var status = stat()
    stat(space.folder.path(name), &status)
    return status
  }

  private static let day = 946_684_800..<946_771_200

  @Test func `files have one size class and a neutral date`() throws {
    let space = try SmallSpace()
    try IndexFiles(folder: space.folder, keys: space.keys).cover()
    try space.write("one", version: 1)
    try space.write("two", version: 1)
    _ = try space.open().changeSidecar(ofID: "one") { _ in Array("words".utf8) }
    let names = space.folder.names().filter { !$0.hasPrefix(".") && $0 != SpaceFolder.coverName }
    // Many of nobody's, the index and a decoy or more, two pictures, what was written about one.
    #expect(names.count >= 64 + 2 + 3)
    for name in names {
      let status = Self.status(space, name)
      #expect(status.st_size == SizeClass.least, "\(name)")
      #expect(Self.day.contains(status.st_mtim.tv_sec), "\(name)")
      #expect(SpaceKeys.bytes(name)?.count == 16)
    }
    // The nanoseconds of times differ, so that two versions of a file differ.
    #expect(Set(names.map { Self.status(space, $0).st_mtim.tv_nsec }).count > names.count - 2)
  }

  @Test func `a library gets its cover files once`() throws {
    let space = try SmallSpace()
    let files = IndexFiles(folder: space.folder, keys: space.keys)
    let before = try space.names().count
    try files.cover()
    let names = try space.names()
    #expect((64...255).contains(names.count - before - 1))
    try IndexFiles(folder: space.folder, keys: SpaceKeys(spaceKey: .random(32))).cover()
    #expect(try space.names() == names)
    // Nobody's: no space clears them away.
    try space.open().prepare()
    #expect(try space.names() == names)
  }

  @Test func `every write renames the index and as many decoys`() throws {
    let space = try SmallSpace()
    var seen: Set<String> = []
    let count = try space.newest.index.decoys!.count
    #expect((1...4).contains(count))
    for number in 0..<8 {
      try space.write("one", version: number)
      let newest = try space.newest
      let group = [newest.name] + newest.index.decoys!
      #expect(group.count == count + 1)
      #expect(seen.isDisjoint(with: group))
      #expect(Set(space.folder.names()).isSuperset(of: group))
      #expect(seen.isDisjoint(with: space.folder.names()), "what was replaced is gone")
      seen.formUnion(group)
    }
  }

  @Test func `decoys of a large index have other sizes`() throws {
    let space = try SmallSpace()
    var sizes: Set<Int> = []
    try space.open().change { index in
      for number in 0..<2000 {
        index.entries["image \(number)"] = SpaceIndex.Entry(file: "f", generation: "g", bytes: 1)
      }
      return []
    }
    for _ in 0..<10 {
      try space.open().change { _ in [] }
      sizes.formUnion(try space.newest.index.decoys!.map { Int(Self.status(space, $0).st_size) })
    }
    #expect(sizes.count > 3)
    #expect(sizes.allSatisfy { SizeClass.size(holding: $0) == $0 })
  }

  /// Two files are left where a writer is killed before it removes the older one.
  @Test func `the newest of two indexes counts, and the other is removed`() throws {
    let space = try SmallSpace()
    try space.write("one", version: 1)
    let older = try space.newest.name
    let bytes = try space.bytes(older)
    try space.write("two", version: 1)
    let newest = try space.newest.name
    try space.put(bytes, into: older)
    #expect(try space.open().ids() == ["one", "two"])
    try space.open().prepare()
    #expect(try space.folder.read(older) == nil)
    try space.put(bytes, into: older)
    try space.write("three", version: 1)
    #expect(try space.folder.read(older) == nil && space.folder.read(newest) == nil)
    #expect(try space.open().ids() == ["one", "three", "two"])
    // Damaged, it may have been the newest.
    try space.put(bytes.dropLast() + [0], into: older)
    #expect(refusal { _ = try space.open() }?.contains("it is damaged") == true)
  }
}
