import CSodium
import Synchronization
import TileStorage

/// The keys of an open space, all derived from the one in the keyring.
final class SpaceKeys: Sendable {
  private let keys: LockedBytes
  private static let count = 32
  private static let context = Array("zigspace".utf8CString)

  init(spaceKey: LockedBytes) {
    keys = LockedBytes(capacity: 3 * Self.count) { (room) throws(Never) in
      for number in 0..<3 {
        crypto_kdf_derive_from_key(
          room.baseAddress!.assumingMemoryBound(to: UInt8.self) + number * Self.count, Self.count,
          UInt64(number + 1), Self.context, spaceKey.base)
      }
      return 3 * Self.count
    }
  }

  /// Set before the first byte is wiped: what was sealed since may be sealed under nothing, and must not be kept.
  private let wiped = Atomic<Bool>(false)
  var isWiped: Bool { wiped.load(ordering: .sequentiallyConsistent) }

  func wipe() {
    wiped.store(true, ordering: .sequentiallyConsistent)
    keys.wipe()
  }

  static func locked(_ action: String) -> StorageError { StorageError(action, "the space is locked") }

  /// From which each archive's own key is derived.
  var archives: UnsafePointer<UInt8> { keys.base }
  var index: UnsafePointer<UInt8> { keys.base + Self.count }
  private var names: UnsafePointer<UInt8> { keys.base + 2 * Self.count }

  /// 32 hexadecimal digits, the same every time.
  var indexName: String { Self.hex(code("index".utf8, count: 16)) }

  /// A new name, that nobody but the space's owner can tell from another space's.
  func makeName() -> String {
    let random = Sodium.random(8)
    return Self.hex(random + code(random, count: 8))
  }

  /// Whether `makeName` of this space made the name.
  func madeName(_ name: String) -> Bool {
    guard name.utf8.count == 32 else { return false }
    var bytes: [UInt8] = []
    var rest = Substring(name)
    while !rest.isEmpty {
      guard let byte = UInt8(rest.prefix(2), radix: 16) else { return false }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return Self.hex(bytes) == name && code(bytes.prefix(8), count: 8) == Array(bytes.suffix(8))
  }

  private func code(_ text: some Sequence<UInt8>, count: Int) -> [UInt8] {
    let text = Array(text)
    var code = [UInt8](repeating: 0, count: 16)
    crypto_generichash(&code, code.count, text, UInt64(text.count), names, Self.count)
    return Array(code.prefix(count))
  }

  static func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
