import Glibc

/// Dates in headers (RFC 9110, section 5.6.7).
package enum HTTPDate {
  /// Returns the text of a time.
  /// - Parameter time: seconds since 1970.
  package static func text(_ time: Int) -> String {
    var (time, parts) = (time_t(time), tm())
    gmtime_r(&time, &parts)
    var text = [CChar](repeating: 0, count: 40)
    // The locale is always C here.
    let count = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
