import ZigguratHTTPMessages

/// A rate limit for login attempts by client address; wrong attempts of one client do not delay others. The total
/// rate is bounded by the cost of a password, because passwords are tried one at a time.
///
/// An attempt counts before it is tried, so that concurrent attempts gain nothing. A correct or untried attempt is
/// subtracted again, but does not clear earlier wrong ones.
struct LoginRateLimiter {
  /// Wrong attempts of an address that are allowed without a delay.
  static let free = 5
  /// Seconds. The delay doubles up to this value.
  static let maxWait = 900
  /// Seconds after which the wrong attempts of an address expire.
  static let memory = 3600
  /// Maximum number of addresses in memory.
  static let addresses = 10_000

  private struct Record {
    var count = 0
    var last = 0
    /// The previous value of `last`.
    var before = 0
  }

  private var records: [ClientAddress: Record] = [:]

  /// Counts an attempt if it is allowed now.
  /// - Parameter now: seconds.
  /// - Returns: 0, or the seconds to wait. In the latter case the attempt is not counted.
  mutating func admit(_ address: ClientAddress, now: Int) -> Int {
    var record = records[address] ?? Record()
    if now - record.last >= Self.memory { record.count = 0 }
    if record.count >= Self.free {
      let wait = min(1 << min(record.count - Self.free, 20), Self.maxWait)
      let left = record.last + wait - now
      if left > 0 { return left }
    }
    record.count += 1
    record.before = record.last
    record.last = now
    makeRoom(now)
    records[address] = record
    return 0
  }

  /// Subtracts an attempt whose credential was correct.
  mutating func succeeded(_ address: ClientAddress) {
    records[address]?.count -= 1
  }

  /// Withdraws an attempt that was not tried, together with its effect on the delay.
  mutating func withdrawn(_ address: ClientAddress) {
    guard var record = records[address] else { return }
    record.count -= 1
    record.last = record.before
    records[address] = record
  }

  private mutating func makeRoom(_ now: Int) {
    guard records.count >= Self.addresses else { return }
    records = records.filter { now - $0.value.last < Self.memory }
    // An attacker needs thousands of addresses to reach this line, and gains a few attempts for the oldest one.
    if records.count >= Self.addresses, let oldest = records.min(by: { $0.value.last < $1.value.last }) {
      records[oldest.key] = nil
    }
  }
}
