import ZigguratHTTPMessages

/// Slows down who guesses passwords, by address: nobody waits for another's wrong ones. All together are bounded by
/// what a password costs, one being tried at a time.
///
/// An attempt counts before it is tried, so that many at once gain nothing; one that was right, or that was not tried,
/// is taken off again, but does not wipe out the wrong ones before it.
struct GuessLimit {
  /// Wrong guesses of an address without waiting.
  static let free = 5
  /// Seconds; the wait doubles up to this.
  static let longestWait = 900
  /// Seconds after which an address's wrong guesses are forgotten.
  static let memory = 3600
  /// Addresses that are remembered.
  static let addresses = 10_000

  private struct Record {
    var count = 0
    var last = 0
    /// The value of `last` before it.
    var before = 0
  }

  private var records: [ClientAddress: Record] = [:]

  /// Counts an attempt, where it may be made.
  /// - Parameter now: seconds.
  /// - Returns: 0, or the seconds to wait, and then nothing was counted.
  mutating func admit(_ address: ClientAddress, now: Int) -> Int {
    var record = records[address] ?? Record()
    if now - record.last >= Self.memory { record.count = 0 }
    if record.count >= Self.free {
      let wait = min(1 << min(record.count - Self.free, 20), Self.longestWait)
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

  /// The attempt was no guess.
  mutating func succeeded(_ address: ClientAddress) {
    records[address]?.count -= 1
  }

  /// The attempt was not tried: the address waits no longer for it than it did before.
  mutating func withdrawn(_ address: ClientAddress) {
    guard var record = records[address] else { return }
    record.count -= 1
    record.last = record.before
    records[address] = record
  }

  private mutating func makeRoom(_ now: Int) {
    guard records.count >= Self.addresses else { return }
    records = records.filter { now - $0.value.last < Self.memory }
    // What is left takes thousands of addresses, and gains the oldest of them a few guesses.
    if records.count >= Self.addresses, let oldest = records.min(by: { $0.value.last < $1.value.last }) {
      records[oldest.key] = nil
    }
  }
}
