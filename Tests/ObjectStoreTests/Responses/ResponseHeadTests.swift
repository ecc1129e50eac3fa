import Testing
import ZigguratTestSupport

@testable import ZigguratObjectStore

/// Parsers of untrusted headers, against slower parsers of the same.
struct ResponseHeadTests {
  private static func range(_ value: String) -> [Int]? {
    var head = ResponseHead()
    for line in ["HTTP/1.1 206 Partial Content\r\n", "Content-Range: \(value)\r\n"] {
      _ = Array(line.utf8).withUnsafeBytes { head.take($0) }
    }
    return head.contentRange.map { [$0.range.lowerBound, $0.range.upperBound, $0.whole] }
  }

  private static func slowly(_ value: String) -> [Int]? {
    guard let match = value.wholeMatch(of: /bytes ([0-9]+)-([0-9]+)\/([0-9]+)/), let first = Int(match.1),
      let last = Int(match.2), let whole = Int(match.3), first <= last, last < whole
    else { return nil }
    return [first, last + 1, whole]
  }

  @Test func `a range has exactly one valid notation`() {
    let most = "\(Int.max)"
    let pieces = ["bytes ", "bytes", "0", "7", "12", "-", "/", "*", " ", "+1", "٣", most, most + "0"]
    var random = SplitMix(SplitMix.runSeed)
    for value in [
      "bytes 0-0/1", "bytes 3-7/12", "bytes 0-\(Int.max - 1)/\(most)", "bytes 5-4/9", "bytes 0-9/9",
    ] {
      #expect(Self.range(value) == Self.slowly(value), "\(value)")
    }
    for _ in 0..<20_000 {
      var value = random.below(2) == 0 ? "bytes " : ""
      for _ in 0..<random.below(7) { value += pieces[random.below(pieces.count)] }
      // Blanks at its ends are not the field's.
      while value.last == " " { value.removeLast() }
      #expect(Self.range(value) == Self.slowly(value), "\(value), seed \(SplitMix.runSeed)")
    }
  }

  @Test func `a readable key has no part that is empty or dots`() {
    func isReadable(_ key: String) -> Bool {
      let parts = key.split(separator: "/", omittingEmptySubsequences: false)
      return !key.contains("\0") && !parts.contains { ["", ".", ".."].contains($0) }
    }
    var keys = [""]
    for _ in 0...6 {
      for key in keys { #expect(ObjectAddress.isReadable(key) == isReadable(key), "\(key.debugDescription)") }
      keys = keys.flatMap { key in ["a", ".", "/", "\0"].map { key + $0 } }
    }
    #expect(ObjectAddress.isReadable(String(repeating: "a", count: 1024)))
    #expect(!ObjectAddress.isReadable(String(repeating: "a", count: 1025)))
  }
}
