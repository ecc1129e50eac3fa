import Testing
import ZigguratHTTPMessages
import ZigguratTestSupport

struct ConditionsTests {
  /// One element of a list of entity tags.
  private enum Element: CaseIterable {
    case own, weakOwn, ownCompressed, other, weakOther, withComma

    var text: String {
      switch self {
      case .own: "\"own\""
      case .weakOwn: "W/\"own\""
      case .ownCompressed: "\"own.gz\""
      case .other: "\"other\""
      case .weakOther: "W/\"other\""
      case .withComma: "\"own,own\""
      }
    }
  }

  private enum List {
    case any
    case tags([Element])
  }

  private enum Representation: CaseIterable {
    case tagged, compressed, untagged

    var tag: String? {
      switch self {
      case .tagged: Element.own.text
      case .compressed: Element.ownCompressed.text
      case .untagged: nil
      }
    }

    /// RFC 9110, section 13.1.1; a tag of what was compressed stands for the plain one.
    func isMatched(_ list: List) -> Bool {
      guard case .tags(let tags) = list else { return true }
      return switch self {
      case .tagged: tags.contains { $0 == .own || $0 == .ownCompressed }
      case .compressed: tags.contains { $0 == .ownCompressed }
      case .untagged: false
      }
    }

    /// RFC 9110, section 13.1.2.
    func isKnown(_ list: List) -> Bool {
      guard case .tags(let tags) = list else { return true }
      return switch self {
      case .tagged: tags.contains { $0 == .own || $0 == .weakOwn }
      case .compressed: tags.contains { $0 == .ownCompressed }
      case .untagged: false
      }
    }

    /// RFC 9110, section 13.1.5.
    func isCurrent(_ ifRange: Element) -> Bool { tag == ifRange.text && ifRange != .weakOwn }
  }

  /// RFC 9110, section 13.2.2, step by step.
  private static func oracle(
    _ representation: Representation, isGet: Bool, ifMatch: List?, ifNoneMatch: List?, ifRange: Element?,
    range: Range<Int>?, length: Int?
  ) -> Conditions.Outcome {
    if let ifMatch, !representation.isMatched(ifMatch) { return .preconditionFailed }  // 1
    // 2: no date
    if let ifNoneMatch, representation.isKnown(ifNoneMatch) { return .notModified }  // 3
    // 4: no date
    if isGet, let range, let length, ifRange.map(representation.isCurrent) ?? true {  // 5
      let part = range.clamped(to: 0..<length)
      return part.isEmpty ? .unsatisfiable : .part(part)
    }
    return .whole  // 6
  }

  @Test("conditions are evaluated in the order of RFC 9110, section 13.2.2")
  func order() {
    let seed = SplitMix.runSeed
    var random = SplitMix(seed)
    func blanks() -> String { random.pick(["", "", " ", "\t", "  "]) }
    func list() -> (List, String)? {
      if random.sometimes(2) { return nil }
      if random.sometimes(5) { return (.any, blanks() + "*" + blanks()) }
      let tags = (0..<random.below(4)).map { _ in random.pick(Array(Element.allCases)) }
      let elements = tags.map { blanks() + $0.text + blanks() }
      return (.tags(tags), (elements + (random.sometimes(4) ? [blanks()] : [])).joined(separator: ","))
    }
    for _ in 0..<20_000 {
      let representation = random.pick(Array(Representation.allCases))
      let isGet = random.sometimes(2)
      let (ifMatch, ifNoneMatch) = (list(), list())
      let ifRange = random.sometimes(2) ? random.pick(Array(Element.allCases)) : nil
      let start = random.below(12)
      let range = random.sometimes(2) ? start..<start + 1 + random.below(5) : nil
      let length = random.sometimes(4) ? nil : random.below(10)
      let headers = [
        "If-Match": ifMatch?.1, "If-None-Match": ifNoneMatch?.1, "If-Range": ifRange?.text,
        "Range": range.map { "bytes=\($0.lowerBound)-\($0.upperBound - 1)" },
        "If-Modified-Since": "Sat, 21 Nov 2026 20:00:00 GMT",
        "If-Unmodified-Since": "Sat, 21 Nov 2020 20:00:00 GMT",
      ].compactMapValues { $0 }
      let outcome = OwnedConditions(isGet: isGet) { headers[$0] }.outcome(
        tag: representation.tag, length: length)
      let expected = Self.oracle(
        representation, isGet: isGet, ifMatch: ifMatch?.0, ifNoneMatch: ifNoneMatch?.0, ifRange: ifRange,
        range: range, length: length)
      #expect(outcome == expected, "seed \(seed), \(representation), GET \(isGet), \(headers)")
      if outcome != expected { return }
    }
  }

  private static func names(_ header: String, _ comparison: EntityTagList.Comparison) -> Bool {
    var (header, tag) = (header, "\"a\"")
    return header.withUTF8 { header in tag.withUTF8 { EntityTagList(header).names($0, comparison) } }
  }

  @Test(
    "a malformed list of entity tags has none",
    arguments: [
      "", ",", "W/", "a", "\"a", "a\"", "\"\"", "\"b\"x, \"a\"", "x\"a\"", "\"a\"\"a\"", "\"a\" \"b\"",
      "w/\"a\"",
      "W/ \"a\"", "**", "*x", "\"*\"", "'a'", "\"A\"", "\"a \"", "\"ab\"", "\"a\"b",
    ])
  func malformed(header: String) {
    #expect(!Self.names(header, .strong))
    #expect(!Self.names(header, .weak))
  }

  @Test("entity tags before a syntax error count", arguments: ["\"a\", b", "\"a\",\"b", "\"b\" , \"a\",,x"])
  func beforeMistakes(header: String) {
    #expect(Self.names(header, .strong))
    #expect(Self.names(header, .weak))
  }
}
