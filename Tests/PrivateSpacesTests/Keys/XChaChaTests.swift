import Testing
import ZigguratCSodium
import ZigguratTestSupport

@testable import ZigguratPrivateSpaces

/// Only bytes that libsodium sealed are opened by the other library.
@Suite struct XChaChaTests {
  private func open(_ sealed: [UInt8], _ nonce: [UInt8], _ key: [UInt8], _ place: [UInt8]) -> [UInt8]? {
    var plain = [UInt8](repeating: 0xaa, count: sealed.count - XChaCha.tagCount)
    let isOpen = plain.withUnsafeMutableBytes { plain in
      sealed.withUnsafeBytes { sealed in
        place.withUnsafeBytes {
          XChaCha.open(sealed, into: plain, nonce: nonce, key: key, authenticating: $0)
        }
      }
    }
    if !isOpen { #expect(plain.allSatisfy { $0 == 0 }, "nothing that is not authentic is left") }
    return isOpen ? plain : nil
  }

  @Test func `data sealed by libsodium are opened, and every flipped byte is rejected`() {
    var random = SplitMix(6)
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(random.below(256)) } }
    for count in Array(0...130) + [511, 512, 513, 4095, 15_500, 70_001] {
      let (plain, nonce, key, place) = (bytes(count), bytes(24), bytes(32), bytes(16))
      var sealed = [UInt8](repeating: 0, count: count + XChaCha.tagCount)
      crypto_aead_xchacha20poly1305_ietf_encrypt(
        &sealed, nil, plain, UInt64(count), place, UInt64(place.count), nil, nonce, key)
      #expect(open(sealed, nonce, key, place) == plain)
      func flipped(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
        return bytes
      }
      for _ in 0..<20 {
        #expect(open(flipped(sealed), nonce, key, place) == nil)
        #expect(open(sealed, flipped(nonce), key, place) == nil)
        #expect(open(sealed, nonce, flipped(key), place) == nil)
        #expect(open(sealed, nonce, key, flipped(place)) == nil)
      }
    }
  }
}
