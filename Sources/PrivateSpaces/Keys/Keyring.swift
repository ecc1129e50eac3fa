import TileStorage
import ZigguratCSodium
import ZigguratFiles

/// The one file with the keys of all spaces: a header that says how passwords become keys, and slots, each
/// random bytes or a space's key sealed under its password. Which of the two cannot be told without the
/// password, so neither can how many spaces there are.
///
/// Nobody can tell a free slot from one in use, not even who makes a new space. So each space's key
/// stands in several slots, drawn by lot, of a great many: while 64 other
/// spaces are made, the chance that one loses all its copies is 1 in 5·10^9.
///
/// Layout: header, slots, header again, digest of all before.
struct Keyring {
  static let slotCount = 8192
  static let copies = 8
  static let headerCount = 128
  static let slotSize = KeyDerivation.keyCount + XChaCha.overhead
  static let byteCount = 2 * headerCount + slotCount * slotSize + digestCount
  private static let digestCount = 32
  private static let magic = Array("ziggurat keyring".utf8)
  private static let version: UInt64 = 1

  let derivation: KeyDerivation
  private(set) var bytes: [UInt8]
  /// The digest fits. A damaged slot loses one of a key's copies; nothing is written over such a file.
  let isWhole: Bool

  /// A new one, in which no password opens anything.
  init() { self.init(slots: Sodium.random(Self.byteCount)) }

  /// In place of one that is not there: passwords are tried in it at the same cost, and nothing is drawn for it that
  /// nobody keeps. Not to be written.
  static var absent: Keyring { Keyring(slots: [UInt8](repeating: 0, count: byteCount)) }

  private init(slots: [UInt8]) {
    derivation = KeyDerivation()
    bytes = slots
    isWhole = true
    let header = Self.header(derivation)
    bytes.replaceSubrange(0..<Self.headerCount, with: header)
    bytes.replaceSubrange(Self.endHeader, with: header)
    sign()
  }

  init(bytes: [UInt8]) throws(StorageError) {
    guard bytes.count == Self.byteCount else {
      throw Self.damaged("it has \(bytes.count) bytes, not \(Self.byteCount)")
    }
    // One spoilt header leaves the other.
    var found: KeyDerivation?
    for range in [0..<Self.headerCount, Self.endHeader] where found == nil {
      found = try Self.derivation(Array(bytes[range]))
    }
    guard let found else { throw Self.damaged("its header is spoilt") }
    derivation = found
    self.bytes = bytes
    isWhole =
      Sodium.digest(bytes.dropLast(Self.digestCount)) == Array(bytes.suffix(Self.digestCount))
  }

  static func damaged(_ what: String) -> StorageError {
    StorageError("read the keyring", "\(what); put a copy of the file back in its place")
  }

  /// Tries every slot, whichever opens, so that the time tells nothing.
  ///
  /// - Parameter passwordKey: what `derivation` made of the password.
  /// - Returns: the space's key and the slots that hold it.
  func spaceKey(_ passwordKey: LockedBytes) -> (key: LockedBytes, slots: [Int])? {
    var slots: [Int] = []
    let key = LockedBytes(capacity: KeyDerivation.keyCount) { (room) throws(Never) in
      var opened = [UInt8](repeating: 0, count: KeyDerivation.keyCount)
      for slot in 0..<Self.slotCount {
        var place = UInt64(slot).littleEndian
        let code = bytes.withUnsafeBufferPointer { bytes in
          let start = bytes.baseAddress! + Self.offset(ofSlot: slot)
          return withUnsafeBytes(of: &place) { place in
            crypto_aead_xchacha20poly1305_ietf_decrypt(
              &opened, nil, nil, start + XChaCha.nonceCount, UInt64(Self.slotSize - XChaCha.nonceCount),
              place.baseAddress!.assumingMemoryBound(to: UInt8.self), UInt64(place.count), start,
              passwordKey.base)
          }
        }
        if code == 0 {
          slots.append(slot)
          room.copyBytes(from: opened)
        }
      }
      sodium_memzero(&opened, opened.count)
      return KeyDerivation.keyCount
    }
    return slots.isEmpty ? nil : (key, slots)
  }

  /// Seals a space's key under a password's into `slots`, and into more drawn by lot up to `copies`.
  mutating func put(_ spaceKey: LockedBytes, under passwordKey: LockedBytes, slots: [Int] = []) {
    var slots = Set(slots)
    while slots.count < Self.copies { slots.insert(Sodium.random(below: Self.slotCount)) }
    for slot in slots {
      let sealed = XChaCha.seal(
        spaceKey.bytes, key: passwordKey.base, authenticating: slot.littleEndianBytes)
      let start = Self.offset(ofSlot: slot)
      bytes.replaceSubrange(start..<start + Self.slotSize, with: sealed)
    }
    sign()
  }

  static func offset(ofSlot slot: Int) -> Int { headerCount + slot * slotSize }

  private static var endHeader: Range<Int> {
    let start = headerCount + slotCount * slotSize
    return start..<start + headerCount
  }

  private mutating func sign() {
    let digest = Sodium.digest(bytes.dropLast(Self.digestCount))
    bytes.replaceSubrange((bytes.count - Self.digestCount)..., with: digest)
  }

  /// Magic, version, passes, memory (eight bytes each, little-endian), salt, zeros, digest.
  static func header(
    magic: [UInt8] = magic, version: UInt64 = version, passes: UInt64, memory: UInt64, salt: [UInt8]
  ) -> [UInt8] {
    var header = magic + [version, passes, memory].flatMap(\.littleEndianBytes) + salt
    header += [UInt8](repeating: 0, count: headerCount - digestCount - header.count)
    return header + Sodium.digest(header)
  }

  private static func header(_ derivation: KeyDerivation) -> [UInt8] {
    header(passes: derivation.passes, memory: derivation.memory, salt: derivation.salt)
  }

  /// Parses a header; nil if it is damaged. Throws if it is whole and asks for costs that are out of range.
  private static func derivation(_ header: [UInt8]) throws(StorageError) -> KeyDerivation? {
    guard Sodium.digest(header.dropLast(digestCount)) == Array(header.suffix(digestCount)),
      header.starts(with: magic)
    else { return nil }
    let numbers = header.withUnsafeBytes { header in
      (0..<3).map {
        UInt64(littleEndian: header.loadUnaligned(fromByteOffset: magic.count + $0 * 8, as: UInt64.self))
      }
    }
    guard numbers[0] == version else {
      throw StorageError("read the keyring", "it has version \(numbers[0]); this program knows \(version)")
    }
    let salt = Array(header[(magic.count + 24)..<(magic.count + 24 + KeyDerivation.saltCount)])
    guard let derivation = KeyDerivation(passes: numbers[1], memory: numbers[2], salt: salt) else {
      throw StorageError(
        "read the keyring",
        "it asks for \(numbers[1]) passes over \(numbers[2]) bytes; granted are "
          + "\(KeyDerivation.passesRange.lowerBound) to \(KeyDerivation.passesRange.upperBound) over "
          + "\(KeyDerivation.memoryRange.lowerBound) to \(KeyDerivation.memoryRange.upperBound)")
    }
    return derivation
  }
}
