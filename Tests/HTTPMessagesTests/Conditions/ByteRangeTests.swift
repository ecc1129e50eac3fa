import Testing
import ZigguratHTTPMessages

struct ByteRangeTests {
  private static func range(_ header: String, _ length: Int) -> ByteRange {
    var header = header
    return header.withUTF8 { ByteRange($0, of: length) }
  }

  /// By the positions that the header names, one by one.
  private static func oracle(first: Int?, last: Int?, _ length: Int) -> ByteRange {
    let named: [Int]
    switch (first, last) {
    case (nil, nil): return .whole
    case (nil, let count?): named = (0..<length).filter { length - $0 <= count }
    case (let first?, nil): named = (0..<length).filter { $0 >= first }
    case (let first?, let last?):
      if first > last { return .whole }
      named = (0..<length).filter { $0 >= first && $0 <= last }
    }
    return named.isEmpty ? .unsatisfiable : .part(named.first!..<named.last! + 1)
  }

  @Test("every range of a short body has the positions that it names", arguments: 0...4)
  func everyRange(length: Int) {
    let ends = [nil] + (0...6).map(Int?.init) + [.max - 1, .max]
    for first in ends {
      for last in ends {
        let text = "bytes=\(first.map(String.init) ?? "")-\(last.map(String.init) ?? "")"
        #expect(
          Self.range(text, length) == Self.oracle(first: first, last: last, length), "\(text)/\(length)")
      }
    }
  }

  @Test(
    "a position too large for an integer is past the end",
    arguments: [
      ("bytes=0-99999999999999999999", ByteRange.part(0..<10)),
      ("bytes=-99999999999999999999", .part(0..<10)),
      ("bytes=9223372036854775808-", .unsatisfiable), ("bytes=99999999999999999999-", .unsatisfiable),
      ("bytes=0000000000000000000000001-2", .part(1..<3)),
    ])
  func long(header: String, expected: ByteRange) { #expect(Self.range(header, 10) == expected) }

  @Test(
    "the unit is case-insensitive, and blanks around the range are ignored",
    arguments: ["BYTES=2-4", "Bytes= 2-4", " bytes=2-4 ", "bytes=\t2-4\t"])
  func spelling(header: String) { #expect(Self.range(header, 10) == .part(2..<5)) }

  @Test(
    "anything but a single byte range is ignored",
    arguments: [
      "", "bytes", "bytes=", "bytes=-", "bytes=5-2", "bytes=x-y", "bytes=1-2-3", "bytes=0-1,4-5",
      "bytes=0-1,",
      "bytes=,0-1", "lines=0-5", "byte=0-5", "bytes:0-5", "bytes =0-5", "bytes=+1-2", "bytes=1", "bytes=--1",
      "bytes=0x1-2", "bytes=1 2-30", "bytes=0-1\0", "bytes=\u{663}-4",
    ])
  func nothing(header: String) { #expect(Self.range(header, 10) == .whole) }
}
