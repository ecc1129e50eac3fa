import Foundation
import Testing
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratPrivateSpaces

@Suite struct SpaceRekeyTests {
  private let small: SmallSpace
  private let deletion: String
  private static let metadata = Array("<x:xmpmeta>grandmother</x:xmpmeta>".utf8)
  private static let ids: [ImageID] = ["a", "b", "c"]

  init() throws {
    small = try SmallSpace()
    var keyring = Keyring()
    keyring.put(small.spaceKey, under: small.passwordKey)
    try small.folder.replace(SpaceFolder.keyringName, with: keyring.bytes)
    for id in Self.ids + ["deleted"] { try small.write(id, version: 1) }
    let space = try small.open()
    _ = try space.changeSidecar(ofID: "b") { _ in Self.metadata }
    try space.change { index in
      index.entries["c"]!.origin = "where it came from"
      return []
    }
    deletion = try #require(try space.delete(["deleted"], at: 1000).deletion?.name)
  }

  /// Returns the key that a folder's keyring has for the password.
  private func key(_ folder: SpaceFolder) throws -> LockedBytes {
    try #require(try Keyring(bytes: folder.read(SpaceFolder.keyringName)!).spaceKey(small.passwordKey)).key
  }

  private func open(_ folder: SpaceFolder) throws -> PrivateSpace {
    try PrivateSpace(folder: folder, keys: SpaceKeys(spaceKey: key(folder)))
  }

  private func rekey(_ folder: SpaceFolder) throws -> SpaceRekey {
    let library = String(folder.path.dropLast(SpaceFolder.name.count + 1))
    return try SpaceRekey(
      PrivateSpaces(library: library), folder, spaceKey: key(folder), passwordKey: small.passwordKey)
  }

  /// Everything is there under the key that the keyring has, with nothing besides it.
  private func expectWhole(_ folder: SpaceFolder, _ what: Comment) throws {
    let space = try open(folder)
    #expect(try space.ids() == Self.ids, what)
    for id in Self.ids {
      let archive = try #require(try space.archive(ofID: id), what)
      for number in 0..<SmallSpace.pyramid.tileCount {
        #expect(archive.copy(number) == SmallSpace.tile(number, version: 1), what)
      }
      #expect(archive.entry(SmallSpace.entryName) == SmallSpace.note(version: 1), what)
      #expect(archive.otherDefects.isEmpty, what)
    }
    #expect(try space.sidecar(ofID: "b") == Self.metadata, what)
    #expect(try space.deletions(since: 0).map(\.name) == [deletion], what)
    #expect(try space.index().entries["c"]?.origin == "where it came from", what)
  }

  /// Nothing of the old key is left, and nothing that nobody knows of.
  private func expectChanged(_ folder: SpaceFolder, _ what: Comment) throws {
    try expectWhole(folder, what)
    let new = SpaceKeys(spaceKey: try key(folder))
    #expect(!folder.names().contains(where: small.keys.made), what)
    #expect(refusal { _ = try PrivateSpace(folder: folder, keys: small.keys) } != nil, what)
    let index = try open(folder).index()
    #expect(index.retired == nil && index.nextKey == nil, what)
    let files = folder.names().filter { new.made($0) }
    #expect(files.count == index.files.count + 1, what)
  }

  /// Returns a copy of the library as a kill at this time would leave it.
  private func copy(_ folder: SpaceFolder) throws -> (library: TemporaryFolder, folder: SpaceFolder) {
    let library = try TemporaryFolder()
    try FileManager.default.copyItem(atPath: folder.path, toPath: SpaceFolder(library: library.path).path)
    return (library, SpaceFolder(library: library.path))
  }

  @Test func `all data are encrypted with the new key`() throws {
    do {
      let rekey = try rekey(small.folder)
      let extent = try rekey.extent()
      #expect(extent.pictures == 4 && extent.byteCount >= 5 * SizeClass.least && extent.freeByteCount > 0)
      #expect(try rekey.run() == .done)
    }
    try expectChanged(small.folder, "done")
    // Who has the space open is asked to forget the old key.
    let others = small.folder.names().filter { SpaceKeys.bytes($0) == nil }
    #expect(Set(others) == [".", "..", "keyring", "cover", "locked"])
    let space = try open(small.folder)
    #expect(try space.restore(deletion, since: 0)?.restored == ["deleted"])
    #expect(try space.archive(ofID: "deleted")?.copy(3) == SmallSpace.tile(3, version: 1))
    // And once more.
    #expect(try self.rekey(small.folder).run() == .done)
    #expect(try open(small.folder).ids() == Self.ids + ["deleted"])
  }

  @Test func `a rekeying killed at any time leaves a valid space, and the next call completes it`() throws {
    var copies: [(what: String, library: TemporaryFolder, folder: SpaceFolder)] = []
    var calls = 0
    let rekey = try rekey(small.folder)
    let outcome = try rekey.run { _ in
      calls += 1
      guard calls % 7 == 1, let (library, folder) = try? copy(small.folder) else { return }
      copies.append(("call \(calls)", library, folder))
    }
    #expect(outcome == .done && copies.count > 5)
    // Between the new index and the keyring, and between the keyring and the end of the old files: all files of both.
    let last = try #require(copies.last)
    for hasNewKeyring in [false, true] {
      let (library, folder) = try copy(last.folder)
      let old = try folder.read(SpaceFolder.keyringName)!
      for name in small.folder.names() where !name.hasPrefix(".") {
        try Data(small.folder.read(name)!).write(to: URL(fileURLWithPath: folder.path(name)))
      }
      let new = SpaceKeys(spaceKey: try key(small.folder))
      let found = try IndexFiles(folder: folder, keys: new).newest()
      var index = try #require(found).index
      index.retired = last.folder.names().filter(small.keys.made)
      unlink(folder.path(found!.name))
      _ = try IndexFiles(folder: folder, keys: new).write(index)
      if !hasNewKeyring { try folder.replace(SpaceFolder.keyringName, with: old) }
      copies.append(("keyring \(hasNewKeyring)", library, folder))
    }
    for killed in copies {
      let what = Comment(rawValue: killed.what)
      try expectWhole(killed.folder, what)
      // Others may come first.
      try open(killed.folder).prepare()
      try expectWhole(killed.folder, what)
      let again = try self.rekey(killed.folder)
      #expect(try again.run() == .done, what)
      try expectChanged(killed.folder, what)
    }
  }

  @Test func `data sealed before a stop are not sealed again`() throws {
    var asked = 0
    do {
      // In the midst of the third picture.
      let outcome = try rekey(small.folder).run(isStopped: {
        asked += 1
        return asked > 2 * SmallSpace.pyramid.tileCount + 20
      })
      #expect(outcome == .stopped)
    }
    try expectWhole(small.folder, "stopped")
    let space = try open(small.folder)
    #expect(try space.index().nextKey != nil)
    let second = try SpaceRekey(
      PrivateSpaces(library: small.library.path), small.folder, spaceKey: small.spaceKey,
      passwordKey: small.passwordKey)
    #expect(try second.extent().pictures < 4)
    #expect(try second.run() == .done)
    try expectChanged(small.folder, "gone on")
  }

  @Test func `changes during a rekeying are sealed, too`() throws {
    let rekey = try rekey(small.folder)
    let other = try small.open()
    var isChanged = false
    let outcome = try rekey.run { progress in
      guard progress.done == progress.total, !isChanged else { return }
      isChanged = true
      do {
        try small.write("b", version: 2, in: other)
        try other.remove(id: "c")
        _ = try other.changeSidecar(ofID: "a") { _ in Self.metadata }
      } catch { Issue.record(error) }
    }
    #expect(outcome == .done)
    let space = try open(small.folder)
    #expect(try space.ids() == ["a", "b"])
    #expect(try space.archive(ofID: "b")?.copy(1) == SmallSpace.tile(1, version: 2))
    #expect(try space.sidecar(ofID: "a") == Self.metadata && space.sidecar(ofID: "b") == Self.metadata)
    #expect(!small.folder.names().contains(where: small.keys.made))
    // Copies of what went meanwhile are cleared away by the next who opens the space.
    #expect(
      refusal { try small.write("d", version: 1, in: other) } != nil, "the old key writes nothing any more")
  }

  @Test func `a process that waited for the lock with the old key is rejected`() throws {
    let other = try small.open()
    let requests = PrivateSpaces(library: small.library.path).watchLocking()
    let rekey = try rekey(small.folder)
    // As far as the lock is held; what is left of the old is cleared away under another.
    #expect(try rekey.change() == nil)
    #expect(requests.isNew(), "who has the space open is asked to forget the key")
    let writes: [() throws -> Void] = [
      { try small.write("d", version: 1, in: other) }, { try other.remove(id: "a") },
      { _ = try other.changeSidecar(ofID: "a") { _ in Self.metadata } },
    ]
    for write in writes { #expect(refusal(write)?.contains("was the space's key changed?") == true) }
    try expectWhole(small.folder, "switched")
    try open(small.folder).prepare()
    try expectChanged(small.folder, "cleared")
  }

  @Test func `an unreadable picture keeps the old key and is named`() throws {
    let file = try small.file(of: "b")
    let whole = try small.bytes(file)
    var damaged = whole
    damaged[40] ^= 1
    try small.put(damaged, into: file)
    guard case .defective(let defects) = try rekey(small.folder).run() else {
      Issue.record("it went through")
      return
    }
    #expect(defects.count == 1 && defects[0].hasPrefix("b: tile "))
    try small.put(whole, into: file)
    try expectWhole(small.folder, "the old key")
    #expect(try rekey(small.folder).run() == .done)
    try expectChanged(small.folder, "mended")
  }

  @Test func `only one rekeying runs at a time`() throws {
    let first = try rekey(small.folder)
    #expect(refusal { _ = try rekey(small.folder) }?.contains("another change of a key is under way") == true)
    withExtendedLifetime(first) {}
  }

  @Test func `a password changed before the rekeying leaves nothing behind`() throws {
    let rekey = try rekey(small.folder)
    var keyring = try Keyring(bytes: #require(try small.folder.read(SpaceFolder.keyringName)))
    let slots = try #require(keyring.spaceKey(small.passwordKey)).slots
    keyring.put(small.spaceKey, under: .random(KeyDerivation.keyCount), slots: slots)
    try small.folder.replace(SpaceFolder.keyringName, with: keyring.bytes)
    let before = Set(small.folder.names())
    let refusal = refusal { _ = try rekey.run() }
    #expect(refusal?.contains("its password or key was changed meanwhile") == true)
    // Copies under a key that nobody has any more could be removed by nobody.
    #expect(Set(small.folder.names()) == before)
    #expect(try small.open().index().nextKey == nil)
  }

  @Test func `the next key is opened only by the password's key`() throws {
    let next = NextKey.random()
    let text = next.sealed(under: small.passwordKey)
    #expect(NextKey(sealed: text, under: small.passwordKey).map { $0.key == next.key } == true)
    #expect(NextKey(sealed: text, under: small.spaceKey) == nil)
    #expect(NextKey(sealed: String(text.dropLast(2)), under: small.passwordKey) == nil)
    #expect(NextKey(sealed: text.uppercased(), under: small.passwordKey) == nil)
  }
}
