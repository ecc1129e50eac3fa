import ZigguratCSodium

/// The encryption of an archive's pieces with XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03). Each piece is bound to
/// its place.
///
/// The key is the archive's own, derived from its space and generation. The nonce consists of the generation's other
/// half, the kind of the piece and its number. The plain length is authenticated with them. A piece that was moved,
/// swapped, truncated or taken from another archive, space or generation does not open.
struct Seal {
  /// The kind of a piece. The raw values are part of the format.
  enum Kind: UInt64 {
    case tile = 1
    case entry = 2
    case head = 3
    case table = 4
    case trailer = 5
    case sidecar = 6
    case padding = 7
  }

  /// The number of bytes by which an encrypted piece is larger than a plain one.
  static let overhead = 16

  let keys: SpaceKeys
  let generation: Generation

  /// Encrypts a piece.
  /// - Parameter sealed: room for `plain.count + overhead` bytes.
  func close(
    _ plain: UnsafeRawBufferPointer, _ kind: Kind, _ index: Int, into sealed: UnsafeMutableRawBufferPointer
  ) {
    precondition(sealed.count == plain.count + Self.overhead, "the seal takes \(Self.overhead) bytes")
    withKey(kind, index, count: plain.count) { key, nonce, place in
      _ = crypto_aead_xchacha20poly1305_ietf_encrypt(
        sealed.baseAddress!.assumingMemoryBound(to: UInt8.self), nil,
        plain.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(plain.count), place.base, place.count,
        nil, nonce, key)
    }
  }

  /// Decrypts a piece. Returns false and writes zeros if it does not belong to this place.
  ///
  /// - Parameter plain: room for `sealed.count - overhead` bytes.
  func open(
    _ sealed: UnsafeRawBufferPointer, _ kind: Kind, _ index: Int, into plain: UnsafeMutableRawBufferPointer
  ) -> Bool {
    precondition(sealed.count == plain.count + Self.overhead, "the seal takes \(Self.overhead) bytes")
    var isOpen = false
    withKey(kind, index, count: plain.count) { key, nonce, place in
      isOpen = XChaCha.open(
        sealed, into: plain, nonce: nonce, key: key,
        authenticating: UnsafeRawBufferPointer(start: place.base, count: Int(place.count)))
    }
    return isOpen
  }

  /// Decrypts a piece into an array; nil if it does not belong to this place.
  func open(_ sealed: UnsafeRawBufferPointer, _ kind: Kind, _ index: Int) -> [UInt8]? {
    guard sealed.count >= Self.overhead else { return nil }
    var plain = [UInt8](repeating: 0, count: sealed.count - Self.overhead)
    let isOpen = plain.withUnsafeMutableBytes { open(sealed, kind, index, into: $0) }
    return isOpen ? plain : nil
  }

  /// Derives the archive's key on the stack and wipes it there. With a locked page for each archive, a large space
  /// would run out of them.
  private func withKey(
    _ kind: Kind, _ index: Int, count: Int,
    _ body: (UnsafePointer<UInt8>, UnsafePointer<UInt8>, (base: UnsafePointer<UInt8>, count: UInt64)) -> Void
  ) {
    var key: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    let nonce = (generation.nonce.littleEndian, kind.rawValue.littleEndian, UInt64(index).littleEndian)
    let place = (Self.domain.littleEndian, UInt64(count).littleEndian)
    withUnsafeMutableBytes(of: &key) { key in
      let pointer = key.baseAddress!.assumingMemoryBound(to: UInt8.self)
      withUnsafeBytes(of: Self.context) { context in
        _ = crypto_kdf_derive_from_key(
          pointer, key.count, generation.key, context.baseAddress!.assumingMemoryBound(to: CChar.self),
          keys.archives)
      }
      withUnsafeBytes(of: nonce) { nonce in
        withUnsafeBytes(of: place) { place in
          body(
            pointer, nonce.baseAddress!.assumingMemoryBound(to: UInt8.self),
            (place.baseAddress!.assumingMemoryBound(to: UInt8.self), UInt64(place.count)))
        }
      }
      sodium_memzero(pointer, key.count)
    }
  }

  /// `zigarch1`: the format and its version.
  private static let domain: UInt64 = 0x3168_6372_6167_697a
  private static let context: UInt64 = domain.littleEndian
}
