/// The identity of one written archive: 16 random bytes at the start of the file.
struct Generation: Hashable, Sendable {
  static let byteCount = 16

  /// The part that selects the archive's key.
  let key: UInt64
  /// The part in every nonce.
  let nonce: UInt64

  static func random() -> Generation {
    let bytes = Sodium.random(byteCount)
    return bytes.withUnsafeBytes { Generation($0) }
  }

  /// - Parameter bytes: at least 16 bytes.
  init(_ bytes: UnsafeRawBufferPointer) {
    key = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
    nonce = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  var bytes: [UInt8] {
    [key, nonce].flatMap { number in withUnsafeBytes(of: number.littleEndian) { Array($0) } }
  }

  /// The text of the generation in the space's index.
  var text: String { SpaceKeys.hex(bytes) }
}
