import ZigguratCSodium
import ZigguratHTTPMessages

/// The Content Security Policy (version 3) of a page. It admits resources of this server, and inline scripts and
/// style sheets by their hashes. Script injected by a defect therefore does not run.
struct ContentSecurityPolicy: Sendable {
  private let scripts: [String]
  private let styles: [String]

  /// Creates the policy of a file that is not a page.
  init() { (scripts, styles) = ([], []) }

  /// - Parameter page: the page as sent. Only scripts and style sheets in elements without attributes are
  ///   admitted.
  init(ofPage page: [UInt8]) {
    let text = String(decoding: page, as: UTF8.self)
    scripts = Self.hashes(of: "script", in: text)
    styles = Self.hashes(of: "style", in: text)
  }

  /// Returns the value of the header.
  func text(_ frames: FrameAncestors) -> String {
    let script = scripts.isEmpty ? "" : "script-src 'self' \(scripts.joined(separator: " ")); "
    let style = (["style-src 'self'"] + styles).joined(separator: " ")
    return
      "default-src 'self'; img-src 'self' data: blob:; \(script)\(style); frame-ancestors \(frames.policy); "
      + "base-uri 'none'"
  }

  private static func hashes(of element: String, in page: String) -> [String] {
    page.ranges(of: "<\(element)>").compactMap { start in
      guard let end = page[start.upperBound...].firstRange(of: "</\(element)>") else { return nil }
      return source(of: Array(page[start.upperBound..<end.lowerBound].utf8))
    }
  }

  /// Returns a hash source (section 2.3.1): SHA-256 of the element's text, in base64.
  private static func source(of text: [UInt8]) -> String {
    var hash = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
    crypto_hash_sha256(&hash, text, UInt64(text.count))
    let variant = sodium_base64_VARIANT_ORIGINAL
    var base64 = [CChar](repeating: 0, count: sodium_base64_encoded_len(hash.count, variant))
    sodium_bin2base64(&base64, base64.count, hash, hash.count, variant)
    return "'sha256-\(String(decoding: base64.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))'"
  }
}
