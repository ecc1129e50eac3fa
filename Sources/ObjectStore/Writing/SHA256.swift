import Glibc
import ZigguratCCrypto

/// A SHA-256 digest. A store compares it with the bytes that it received.
package struct SHA256: ~Copyable {
  private let context: OpaquePointer

  package init() {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      preconditionFailure("there is no memory for a digest")
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
  }

  /// Returns the 32 bytes of the digest.
  package consuming func digest() -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    EVP_DigestFinal_ex(context, &digest, nil)
    return digest
  }

  package static func of(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { of($0) } }

  package static func of(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var digest = SHA256()
    digest.update(bytes)
    return digest.digest()
  }

  /// Returns a digest as in headers and keys.
  package static func hexadecimal(_ digest: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
