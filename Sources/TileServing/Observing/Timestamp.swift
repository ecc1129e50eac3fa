import Glibc

/// A time point for logs (RFC 3339): UTC with milliseconds, such as `2026-11-22T07:03:01.250Z`.
package struct Timestamp: Sendable, CustomStringConvertible {
  private let time: timespec

  private init(_ time: timespec) { self.time = time }

  /// - Parameters:
  ///   - seconds: seconds since 1970.
  ///   - milliseconds: 0 to 999.
  init(seconds: Int, milliseconds: Int) {
    time = timespec(tv_sec: seconds, tv_nsec: milliseconds * 1_000_000)
  }

  package static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(time)
  }

  package var description: String {
    var (seconds, parts) = (time.tv_sec, tm())
    gmtime_r(&seconds, &parts)
    var text = [CChar](repeating: 0, count: 32)
    let count = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S", &parts)
    let digits = String(1000 + time.tv_nsec / 1_000_000).dropFirst()
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) + ".\(digits)Z"
  }
}
