import Synchronization

/// Secrets that are shown as QR codes to who may write, so that a phone may, too: each begins one session, within
/// ten minutes.
final class PairingCodes: Sendable {
  /// Seconds.
  static let lifetime = 600
  /// Codes that wait for a phone; the oldest is forgotten for a new one.
  private static let limit = 20

  private let codes = Mutex<[SecretDigest: Int]>([:])

  /// - Parameter now: seconds of a clock that never goes back.
  func make(now: Int) -> String {
    let text = SecretDigest.makeSecret()
    codes.withLock { codes in
      codes = codes.filter { $0.value > now }
      if codes.count >= Self.limit, let oldest = codes.min(by: { $0.value < $1.value }) {
        codes[oldest.key] = nil
      }
      codes[SecretDigest(text.utf8)] = now + Self.lifetime
    }
    return text
  }

  /// Whether this is a code, which is none afterwards.
  func take(_ text: String, now: Int) -> Bool {
    codes.withLock { $0.removeValue(forKey: SecretDigest(text.utf8)) ?? 0 } > now
  }
}
