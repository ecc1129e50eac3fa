/// One writing of one archive: 16 random bytes at the file's start.
struct Generation: Hashable, Sendable {
  static let byteCount = 16

  /// Chooses the archive's key.
  let key: UInt64
  /// In every nonce.
  let nonce: UInt64

  static func random() -> Generation {
    let bytes = Sodium.random(byteCount)
    return bytes.withUnsafeBytes { Generation($0) }
  }

  /// - Parameter bytes: 16 or more.
  init(_ bytes: UnsafeRawBufferPointer) {
    key = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
    nonce = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  var bytes: [UInt8] {
    [key, nonce].flatMap { number in withUnsafeBytes(of: number.littleEndian) { Array($0) } }
  }

  /// As the space's index has it.
  var text: String { SpaceKeys.hex(bytes) }
}
