import Synchronization

/// Pairing codes, shown as QR codes to principals with write access to authorize a phone. Each code starts one session
/// within ten minutes, and becomes invalid when the session that created it ends.
final class PairingCodes: Sendable {
  /// Seconds.
  static let lifetime = 600
  /// Maximum number of pending codes; a new code replaces the oldest one.
  private static let limit = 20

  private struct Code {
    /// Seconds.
    let end: Int
    let issuer: String?
  }

  private let codes = Mutex<[TokenHash: Code]>([:])

  /// - Parameters:
  ///   - now: seconds of a monotonic clock.
  ///   - issuer: the label of the session that creates the code; `nil` for a client without a session, which has
  ///     the token itself.
  func make(now: Int, issuer: String?) -> String {
    let text = TokenHash.makeSecret()
    codes.withLock { codes in
      codes = codes.filter { $0.value.end > now }
      if codes.count >= Self.limit, let oldest = codes.min(by: { $0.value.end < $1.value.end }) {
        codes[oldest.key] = nil
      }
      codes[TokenHash(text.utf8)] = Code(end: now + Self.lifetime, issuer: issuer)
    }
    return text
  }

  /// Consumes a code.
  /// - Parameter isOpen: whether the session with a given label is still open.
  /// - Returns: whether the code was valid.
  func take(_ text: String, now: Int, isOpen: (String) -> Bool) -> Bool {
    guard let code = codes.withLock({ $0.removeValue(forKey: TokenHash(text.utf8)) }) else { return false }
    return code.end > now && code.issuer.map(isOpen) ?? true
  }
}
