import Synchronization

/// Secrets that are shown as QR codes to visitors who may write, so that a phone may, too. Each begins one session,
/// within ten minutes, and ends with the session that it was made in.
final class PairingCodes: Sendable {
  /// Seconds.
  static let lifetime = 600
  /// Codes that wait for a phone; the oldest is forgotten for a new one.
  private static let limit = 20

  private struct Code {
    /// Seconds.
    let end: Int
    let issuer: String?
  }

  private let codes = Mutex<[SecretDigest: Code]>([:])

  /// - Parameters:
  ///   - now: seconds of a clock that never goes back.
  ///   - issuer: the label of the session that asks for it; nil for a client without one, which has the token itself.
  func make(now: Int, issuer: String?) -> String {
    let text = SecretDigest.makeSecret()
    codes.withLock { codes in
      codes = codes.filter { $0.value.end > now }
      if codes.count >= Self.limit, let oldest = codes.min(by: { $0.value.end < $1.value.end }) {
        codes[oldest.key] = nil
      }
      codes[SecretDigest(text.utf8)] = Code(end: now + Self.lifetime, issuer: issuer)
    }
    return text
  }

  /// Whether this is a code, which is none afterwards.
  /// - Parameter isOpen: whether the session of that label has not ended.
  func take(_ text: String, now: Int, isOpen: (String) -> Bool) -> Bool {
    guard let code = codes.withLock({ $0.removeValue(forKey: SecretDigest(text.utf8)) }) else { return false }
    return code.end > now && code.issuer.map(isOpen) ?? true
  }
}
