import Testing
import TileStorage
import ZigguratTestSupport

@testable import ZigguratPrivateSpaces

/// The keyring by itself: what a password's key opens, and what damage does. Keys stand for passwords.
@Suite struct KeyringTests {
  private func contents(_ key: LockedBytes?) -> [UInt8]? { key.map { Array($0.bytes) } }

  private func resigned(_ bytes: [UInt8]) -> [UInt8] {
    bytes.dropLast(32) + Sodium.digest(bytes.dropLast(32))
  }

  @Test func `each of 64 spaces is opened by its own password only`() throws {
    var keyring = Keyring()
    let spaces = (0..<64).map { _ in (password: LockedBytes.random(32), key: LockedBytes.random(32)) }
    for space in spaces { keyring.put(space.key, under: space.password) }
    #expect(keyring.bytes.count == Keyring().bytes.count)
    let read = try Keyring(bytes: keyring.bytes)
    #expect(read.isWhole)
    for space in spaces {
      #expect(contents(read.spaceKey(space.password)?.key) == contents(space.key))
    }
    #expect(read.spaceKey(.random(32)) == nil)
  }

  @Test func `a new password takes the slots of the old one`() throws {
    var keyring = Keyring()
    let (old, new, other) = (LockedBytes.random(32), LockedBytes.random(32), LockedBytes.random(32))
    let (key, otherKey) = (LockedBytes.random(32), LockedBytes.random(32))
    keyring.put(otherKey, under: other)
    keyring.put(key, under: old)
    let slots = keyring.spaceKey(old)!.slots
    #expect(slots.count == Keyring.copies)
    keyring.put(key, under: new, slots: slots)
    #expect(keyring.spaceKey(old) == nil)
    #expect(keyring.spaceKey(new)!.slots == slots)
    #expect(contents(keyring.spaceKey(new)?.key) == contents(key))
    #expect(contents(keyring.spaceKey(other)?.key) == contents(otherKey))
  }

  @Test func `a used slot looks like a free one`() {
    var keyring = Keyring()
    // Every slot in use against none, byte by byte of the slot: each value about as often.
    for _ in 0..<Keyring.slotCount / Keyring.copies { keyring.put(.random(32), under: .random(32)) }
    for bytes in [keyring.bytes, Keyring().bytes] {
      for position in 0..<Keyring.slotSize {
        var ones = 0
        for slot in 0..<Keyring.slotCount {
          ones += bytes[Keyring.offset(ofSlot: slot) + position].nonzeroBitCount
        }
        // 65,536 fair coins: seven standard deviations are 896.
        #expect(abs(ones - Keyring.slotCount * 4) < 896, "byte \(position) of a slot")
      }
    }
  }

  @Test func `a moved slot opens nothing`() throws {
    var keyring = Keyring()
    let password = LockedBytes.random(32)
    keyring.put(.random(32), under: password)
    let slots = keyring.spaceKey(password)!.slots
    var bytes = keyring.bytes
    for slot in slots {
      let (from, size) = (Keyring.offset(ofSlot: slot), Keyring.slotSize)
      let to = Keyring.offset(ofSlot: (slot + 1) % Keyring.slotCount)
      let sealed = Array(bytes[from..<from + size])
      bytes.replaceSubrange(from..<from + size, with: Sodium.random(size))
      bytes.replaceSubrange(to..<to + size, with: sealed)
    }
    #expect(try Keyring(bytes: resigned(bytes)).spaceKey(password) == nil)
  }

  @Test func `one flipped byte anywhere is detected and loses nothing`() throws {
    var keyring = Keyring()
    let (password, key) = (LockedBytes.random(32), LockedBytes.random(32))
    keyring.put(key, under: password)
    var random = SplitMix(SplitMix.runSeed)
    let slots = keyring.spaceKey(password)!.slots
    // Both headers whole, the slots in use, and places drawn by lot.
    let headers = Array(0..<Keyring.headerCount)
    let places =
      headers + headers.map { Keyring.byteCount - 32 - Keyring.headerCount + $0 }
      + slots.flatMap { slot in (0..<Keyring.slotSize).map { Keyring.offset(ofSlot: slot) + $0 } }
      + (0..<500).map { _ in random.below(Keyring.byteCount) }
    for (number, place) in places.enumerated() {
      var bytes = keyring.bytes
      bytes[place] ^= UInt8(1 + random.below(255))
      let damaged = try Keyring(bytes: bytes)
      #expect(!damaged.isWhole, "byte \(place)")
      #expect(damaged.derivation == keyring.derivation, "byte \(place)")
      // Trying all slots takes its time.
      if number % 16 == 0 {
        #expect(contents(damaged.spaceKey(password)?.key) == contents(key), "byte \(place)")
      }
    }
  }

  @Test func `lost copies leave the others`() throws {
    var keyring = Keyring()
    let (password, key) = (LockedBytes.random(32), LockedBytes.random(32))
    keyring.put(key, under: password)
    var bytes = keyring.bytes
    for slot in keyring.spaceKey(password)!.slots.dropLast() {
      let start = Keyring.offset(ofSlot: slot)
      bytes.replaceSubrange(start..<start + Keyring.slotSize, with: Sodium.random(Keyring.slotSize))
    }
    let found = try Keyring(bytes: resigned(bytes)).spaceKey(password)
    #expect(contents(found?.key) == contents(key))
    #expect(found?.slots.count == 1)
  }

  @Test(arguments: [0, 1, Keyring.byteCount - 1, Keyring.byteCount + 1])
  func `a keyring of another size is rejected`(_ count: Int) {
    let bytes = Array((Keyring().bytes + [0]).prefix(count))
    let said = refusal { _ = try Keyring(bytes: bytes) }
    #expect(
      said == "cannot read the keyring: it has \(count) bytes, not \(Keyring.byteCount); put a copy of the "
        + "file back in its place")
  }

  @Test func `damage of both headers is reported`() {
    var bytes = Keyring().bytes
    bytes[40] ^= 1
    bytes[Keyring.byteCount - 32 - Keyring.headerCount + 100] ^= 1
    #expect(
      refusal { _ = try Keyring(bytes: bytes) }
        == "cannot read the keyring: its header is spoilt; put a copy of the file back in its place")
  }

  /// Costs that an untrusted keyring may declare, with a valid digest.
  @Test(
    arguments: [
      (3, 64 << 30), (3, .max), (3, 0), (3, 64 << 20), (3, (1 << 30) + 1), (0, 256 << 20), (2, 256 << 20),
      (13, 256 << 20), (.max, 256 << 20),
    ] as [(UInt64, UInt64)])
  func `costs out of range are rejected`(_ passes: UInt64, _ memory: UInt64) {
    let header = Keyring.header(passes: passes, memory: memory, salt: Sodium.random(16))
    var bytes = Keyring().bytes
    bytes.replaceSubrange(0..<header.count, with: header)
    #expect(
      refusal { _ = try Keyring(bytes: resigned(bytes)) }
        == "cannot read the keyring: it asks for \(passes) passes over \(memory) bytes; granted are 3 to 12 "
        + "over 268435456 to 1073741824")
  }

  @Test func `a keyring of another version is rejected`() {
    let header = Keyring.header(version: 2, passes: 3, memory: 256 << 20, salt: Sodium.random(16))
    var bytes = Keyring().bytes
    bytes.replaceSubrange(0..<header.count, with: header)
    #expect(
      refusal { _ = try Keyring(bytes: resigned(bytes)) }
        == "cannot read the keyring: it has version 2; this program knows 1")
  }

  @Test func `a randomly changed keyring is rejected or read as it was`() throws {
    let keyring = Keyring()
    var random = SplitMix(SplitMix.runSeed)
    for _ in 0..<2000 {
      var bytes = keyring.bytes
      for _ in 0...random.below(6) {
        let (start, count) = (random.below(bytes.count), 1 + random.below(64))
        for place in start..<min(start + count, bytes.count) { bytes[place] = UInt8(random.below(256)) }
      }
      if random.sometimes(8) { bytes.removeLast(random.below(bytes.count)) }
      if let read = try? Keyring(bytes: bytes) { #expect(read.derivation == keyring.derivation) }
    }
  }
}
