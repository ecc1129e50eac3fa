import Foundation
import Testing
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratPrivateSpaces

@Suite struct SealedSidecarTests {
  private let small: SmallSpace
  private let space: PrivateSpace
  private static let metadata = Array("<x:xmpmeta>grandmother</x:xmpmeta>".utf8)

  init() throws {
    small = try SmallSpace()
    try small.write("a", version: 1)
    try small.write("b", version: 1)
    space = try small.open()
    #expect(try space.changeSidecar(ofID: "a") { $0.isEmpty ? Self.metadata : nil })
  }

  /// As a process that starts now opens it.
  private func index() throws -> SpaceIndex { try small.open().index() }

  @Test func `a sidecar stays when the picture is rebuilt`() throws {
    #expect(try small.open().sidecar(ofID: "a") == Self.metadata)
    #expect(try small.open().sidecar(ofID: "b") == nil)
    try small.write("a", version: 2)
    #expect(try small.open().sidecar(ofID: "a") == Self.metadata)
    #expect(try space.changeSidecar(ofID: "none") { _ in Self.metadata } == false)
    let before = try index()
    #expect(try space.changeSidecar(ofID: "a") { _ in nil })
    #expect(try index() == before, "nothing to write, nothing written")
  }

  @Test func `a sidecar with any byte flipped is rejected`() throws {
    let file = try #require(try index().entries["a"]?.sidecar?.file)
    let whole = try small.bytes(file)
    #expect(whole.count > Self.metadata.count + 1024)
    for place in stride(from: 0, to: whole.count, by: 19) {
      var damaged = whole
      damaged[place] ^= 1 << UInt8(place % 8)
      try small.put(damaged, into: file)
      #expect(throws: StorageError.self) { try space.sidecar(ofID: "a") }
    }
    try small.put(Array(whole.dropLast()), into: file)
    #expect(throws: StorageError.self) { try space.archive(ofID: "a") }
    #expect(try space.archive(ofID: "b") != nil)
    try small.put(whole, into: file)
    #expect(try space.sidecar(ofID: "a") == Self.metadata)
  }

  @Test func `older sidecars and those of other images are rejected`() throws {
    let first = try #require(try index().entries["a"]?.sidecar?.file)
    let older = try small.bytes(first)
    _ = try space.changeSidecar(ofID: "b") { _ in Array("of b".utf8) }
    let foreign = try small.bytes(try #require(try index().entries["b"]?.sidecar?.file))
    _ = try space.changeSidecar(ofID: "a") { $0 + Array(" more".utf8) }
    let file = try #require(try index().entries["a"]?.sidecar?.file)
    #expect(file != first && !small.folder.names().contains(first))
    for other in [older, foreign] {
      try small.put(other, into: file)
      #expect(throws: StorageError.self) { try space.sidecar(ofID: "a") }
    }
  }

  @Test func `deleted images are restored with their sidecars, or removed for good`() throws {
    let files = Set(try small.names())
    let (deletion, refused) = try space.delete(["a", "none"], at: 1000)
    let name = try #require(deletion?.name)
    #expect((deletion?.images, refused) == (["a"], ["none"]))
    #expect(try small.open().ids() == ["b"])
    try space.purgeDeleted(until: 999)
    try small.open().prepare()
    #expect(try Set(small.names()) == files, "neither purged nor taken for a leftover")
    #expect(try space.restore(name, since: 1000) == nil, "too late")
    #expect(try space.deletions(since: 999).map(\.name) == [name])
    let back = try #require(try space.restore(name, since: 999))
    #expect(back.restored == ["a"] && back.conflicts.isEmpty)
    #expect(try small.open().sidecar(ofID: "a") == Self.metadata)
    _ = try space.delete(["a"], at: 1000)
    try space.purgeDeleted(until: 1000)
    #expect(try files.subtracting(small.names()).count == 2)
    #expect(try space.deletions(since: 0).isEmpty)
  }

  @Test func `an index of a version without sidecars is read`() throws {
    let text = #"{"entries":{"a":{"bytes":3,"file":"f","generation":"g"}},"sequence":7}"#
    let index = try JSONDecoder().decode(SpaceIndex.self, from: Data(text.utf8))
    #expect(index.entries["a"]?.sidecar == nil && index.deletions == nil && index.files == ["f"])
  }
}
