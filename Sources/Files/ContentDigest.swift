import Glibc
import ZigguratCXXHash

/// An XXH3 digest of 128 bits, computed in pieces. Build records use it to identify content.
package final class ContentDigest {
  private let state: OpaquePointer

  /// Creates a digest; nil if there is no memory for it.
  package init?() {
    guard let state = XXH3_createState() else { return nil }
    self.state = state
    XXH3_128bits_reset(state)
  }

  deinit { XXH3_freeState(state) }

  package func add(_ bytes: UnsafeRawBufferPointer) {
    XXH3_128bits_update(state, bytes.baseAddress, bytes.count)
  }

  /// The digest of the bytes so far, hexadecimal.
  package var text: String {
    let hash = XXH3_128bits_digest(state)
    return [hash.high64, hash.low64].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Returns the digest of bytes; nil if there is no memory for it.
  package static func text(of bytes: [UInt8]) -> String? {
    guard let digest = ContentDigest() else { return nil }
    bytes.withUnsafeBytes { digest.add($0) }
    return digest.text
  }

  /// Returns the digest of an open file; nil if it cannot be read. Uses reads, because a mapped file may be truncated.
  package static func text(of descriptor: Int32) -> String? {
    guard let digest = ContentDigest() else { return nil }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { buffer.deallocate() }
    var position = 0
    while true {
      let count = pread(descriptor, buffer.baseAddress, buffer.count, position)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { return digest.text }
      digest.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      position += count
    }
  }
}
