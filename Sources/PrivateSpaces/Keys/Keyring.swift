import TileStorage
import ZigguratCSodium
import ZigguratFiles

/// The file with the keys of all spaces. It has a header that defines how passwords become keys, and slots. Each slot
/// contains random bytes, or a space's key encrypted with its password. Without the password these cannot be
/// distinguished, so the number of spaces is unknown.
///
/// Nobody can distinguish a free slot from a used one, not even the creator of a new space. Each space's key is
/// therefore in several of very many slots, at random. While 64 other spaces are created, the chance that one loses all
/// its copies is 1 in 5·10^9.
///
/// Layout: header, slots, header again, digest of everything before.
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
  /// Whether the digest is correct. A damaged slot loses one of a key's copies; a damaged file is never overwritten.
  let isWhole: Bool

  /// Creates a keyring in which no password opens a space.
  init() { self.init(slots: Sodium.random(Self.byteCount)) }

  /// A substitute for a missing keyring. Passwords are tried in it at the same cost, but it needs no random bytes. It
  /// must not be written.
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
    // If one header is damaged, the other is used.
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

  /// Tries every slot, even after a match, so that the time reveals nothing.
  ///
  /// - Parameter passwordKey: the key that `derivation` derived from the password.
  /// - Returns: the space's key, and the slots that contain it.
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

  /// Encrypts a space's key with a password's into `slots`, and into more random slots up to `copies`.
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

  /// Returns the magic, version, passes, memory (eight bytes each, little-endian), salt, zeros and digest.
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

  /// Parses a header; nil if it is damaged. Throws if it is valid, but its version or its costs are not supported.
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
