import Foundation
import Testing
import ZigguratTestSupport

@testable import ZigguratText

struct JSONWriterTests {
  @Test("numbers are written and read without change")
  func numbers() throws {
    let seed = SplitMix.runSeed
    var random = SplitMix(seed)
    // Few enough to come again often, more than the text remembers, whole ones and -0 among them.
    var pool = [
      0, -0.0, 1, -7, 1e15, 0.1, 0.30000000000000004, 1e-300, .leastNonzeroMagnitude,
      -2.2250738585072014e-308,
    ]
    for _ in 0..<300 { pool.append(random.number(-1, 1) * pow(10, random.number(-20, 20).rounded())) }
    let numbers = (0..<20_000).map { _ in random.pick(pool) }
    // Small, so that it grows many times.
    var text = JSONWriter(capacity: 1)
    text.list { text in for number in numbers { text.value(number) } }
    let parsed = try JSONDecoder().decode([Double].self, from: Data(text.bytes))
    #expect(parsed == numbers, "seed \(seed)")
  }

  @Test("a string read in parts equals the whole")
  func parts() throws {
    for name in ["", "plain", "a\"b\\c", "line\nbreak\u{1}", "Zürich 東京 🏛"] {
      var text = JSONWriter(capacity: 1)
      text.object { text in
        text.member("whole", name + "/120_7.jpg")
        text.key("parts")
        text.string { text in
          text.part(escaped: JSONWriter.escaped(name))
          text.part("/")
          text.part(120)
          text.part("_")
          text.part(7)
          text.part(".jpg")
        }
        text.member("after", true)
      }
      let parsed = try JSONDecoder().decode(Strings.self, from: Data(text.bytes))
      #expect(parsed == Strings(whole: name + "/120_7.jpg", parts: name + "/120_7.jpg", after: true))
    }
  }

  private struct Strings: Decodable, Equatable {
    let whole: String
    let parts: String
    let after: Bool
  }
}
