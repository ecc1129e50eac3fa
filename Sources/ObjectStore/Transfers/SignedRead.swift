import TileStorage

/// A request for an object that libcurl has signed. The signature covers the host and the added headers, not the range
/// (AWS Signature Version 4, "Create a canonical request"). It is therefore valid for each range of the same version.
struct SignedRead: Sendable {
  let url: String
  let authorization: String
  let date: String

  /// Reads the signature from a request that was sent; nil if it was not signed.
  init?(url: String, sent request: UnsafeRawBufferPointer) {
    var (authorization, date): (String?, String?)
    for line in request.split(whereSeparator: { $0 == 0x0d || $0 == 0x0a }) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
      let value = String(decoding: line[(colon + 1)...].drop { $0 == 0x20 }, as: UTF8.self)
      switch String(decoding: line[..<colon], as: UTF8.self).lowercased() {
      case "authorization": authorization = value
      case "x-amz-date": date = value
      default: continue
      }
    }
    guard let authorization, let date else { return nil }
    self.url = url
    self.authorization = authorization
    self.date = date
  }
}

/// The signed requests of objects that are being read. Only one thread uses it.
struct SignedReads {
  private var known = LRUCache<ObjectVersion, (read: SignedRead, until: ContinuousClock.Instant)>(
    limit: 1024)
  /// The time for which a signature is reused. Stores accept a date that is up to 15 minutes old by their own clocks.
  private let lifetime: Duration

  init(lifetime: Duration = .seconds(60)) { self.lifetime = lifetime }

  /// Returns the signed request of an object; nil if libcurl has to sign it.
  mutating func read(of version: ObjectVersion, at now: ContinuousClock.Instant) -> SignedRead? {
    guard let found = known.value(for: version) else { return nil }
    if found.until > now { return found.read }
    known.remove(version)
    return nil
  }

  /// Records the end of a read.
  /// - Parameters:
  ///   - read: the request that libcurl has signed; nil if an earlier signature was sent.
  ///   - isTaken: whether the store has sent the requested bytes. Otherwise the next request is signed again.
  mutating func note(
    _ read: SignedRead?, of version: ObjectVersion, isTaken: Bool, at now: ContinuousClock.Instant
  ) {
    if !isTaken {
      known.remove(version)
    } else if let read {
      known.insert((read, now + lifetime), for: version, weight: 1)
    }
  }
}
