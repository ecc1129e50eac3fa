import Glibc

/// Slows down who guesses passwords: by address, and everybody together.
///
/// An attempt counts before it is tried, so that many at once gain nothing; one that was right is taken off
/// again, but does not wipe out the wrong ones before it.
struct GuessLimit {
  /// Wrong guesses of an address without waiting.
  static let free = 5
  /// Seconds; the wait doubles up to this.
  static let longestWait = 900
  /// Seconds after which an address's wrong guesses are forgotten.
  static let memory = 3600
  /// Attempts of all addresses together at once, and seconds until one more is granted.
  static let burst = 20
  static let refill = 3
  /// Addresses that are remembered.
  static let addresses = 10_000

  private struct Record {
    var count = 0
    var last = 0
  }

  private var records: [String: Record] = [:]
  private var granted = Self.burst
  private var refilled = 0

  /// Counts an attempt, where it may be made.
  /// - Parameter now: seconds.
  /// - Returns: 0, or the seconds to wait, and then nothing was counted.
  mutating func admit(_ address: String, now: Int) -> Int {
    var record = records[address] ?? Record()
    if now - record.last >= Self.memory { record.count = 0 }
    if record.count >= Self.free {
      let wait = min(1 << min(record.count - Self.free, 20), Self.longestWait)
      let left = record.last + wait - now
      if left > 0 { return left }
    }
    let turns = (now - refilled) / Self.refill
    if turns > 0 { (granted, refilled) = (min(granted + turns, Self.burst), refilled + turns * Self.refill) }
    guard granted > 0 else { return max(refilled + Self.refill - now, 1) }
    granted -= 1
    record.count += 1
    record.last = now
    makeRoom(now)
    records[address] = record
    return 0
  }

  /// The attempt was no guess.
  mutating func succeeded(_ address: String) {
    records[address]?.count -= 1
    granted = min(granted + 1, Self.burst)
  }

  private mutating func makeRoom(_ now: Int) {
    guard records.count >= Self.addresses else { return }
    records = records.filter { now - $0.value.last < Self.memory }
    // What is left would take thousands of addresses, which the bound on all together outlasts.
    if records.count >= Self.addresses, let oldest = records.min(by: { $0.value.last < $1.value.last }) {
      records[oldest.key] = nil
    }
  }

  /// What counts as one address: an IPv4 address, or the 64 bits of an IPv6 network that one customer has.
  static func group(_ address: String) -> String {
    var bytes = in6_addr()
    guard inet_pton(AF_INET6, address, &bytes) == 1 else { return address }
    return withUnsafeBytes(of: bytes) { bytes in
      let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
      if isMapped { return bytes.dropFirst(12).map(String.init).joined(separator: ".") }
      return bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
    }
  }
}
