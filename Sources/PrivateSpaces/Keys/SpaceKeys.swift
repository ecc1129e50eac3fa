import Synchronization
import TileStorage
import ZigguratCSodium
import ZigguratFiles

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

  /// Set before the first byte is wiped. Data encrypted since then may have an invalid key, and must not be stored.
  private let wiped = Atomic<Bool>(false)
  var isWiped: Bool { wiped.load(ordering: .sequentiallyConsistent) }

  func wipe() {
    wiped.store(true, ordering: .sequentiallyConsistent)
    keys.wipe()
  }

  static func locked(_ action: String) -> StorageError { StorageError(action, "the space is locked") }

  /// The key from which each archive's own key is derived.
  var archives: UnsafePointer<UInt8> { keys.base }
  var index: UnsafePointer<UInt8> { keys.base + Self.count }
  private var names: UnsafePointer<UInt8> { keys.base + 2 * Self.count }

  /// An identifier of 32 hexadecimal digits, the same every time. In the first version of the format it was also the
  /// name of the index file.
  var identity: String { Self.hex(code("index".utf8, count: 16)) }

  /// The kind of a file. Only the space's owner can see it in the name. The raw values are part of the format.
  enum FileKind: String {
    /// A file of an image, of its metadata, or of random bytes.
    case record = ""
    case index = "index"
  }

  /// Returns a new name. Only the space's owner can distinguish it from a name of another space.
  func makeName(_ kind: FileKind = .record) -> String {
    let random = Sodium.random(8)
    return Self.hex(random + code(random + kind.rawValue.utf8, count: 8))
  }

  /// Whether `makeName` of this space returned the name for that kind.
  func madeName(_ name: String, _ kind: FileKind = .record) -> Bool {
    guard let bytes = Self.bytes(name), bytes.count == 16 else { return false }
    return code(bytes.prefix(8) + kind.rawValue.utf8, count: 8).elementsEqual(bytes.suffix(8))
  }

  /// Whether the name belongs to a file of this space.
  func made(_ name: String) -> Bool { name == identity || madeName(name) || madeName(name, .index) }

  private func code(_ text: some Sequence<UInt8>, count: Int) -> [UInt8] {
    let text = Array(text)
    var code = [UInt8](repeating: 0, count: 16)
    crypto_generichash(&code, code.count, text, UInt64(text.count), names, Self.count)
    return Array(code.prefix(count))
  }

  /// Returns the inverse of `hex`; nil for other texts.
  static func bytes(_ hex: String) -> [UInt8]? {
    var (bytes, high): ([UInt8], UInt8?) = ([], nil)
    for digit in hex.utf8 {
      let value: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
      default: return nil
      }
      if let first = high { bytes.append(first << 4 | value) }
      high = high == nil ? value : nil
    }
    return high == nil ? bytes : nil
  }

  static func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
