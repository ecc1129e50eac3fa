/// A part of an object that is read at once, for the sake of some tiles in it.
struct ObjectSpan: Equatable {
  /// A tile and where it lies with what stands before it.
  struct Part: Equatable {
    let tile: Int
    let range: Range<Int>
  }

  private(set) var range: Range<Int>
  private(set) var parts: [Part]

  init(_ part: Part) { (range, parts) = (part.range, [part]) }

  /// Bytes between two tiles that are read and dropped rather than asked around: what a second question costs.
  static let widestGap = 32 << 10
  /// Bytes that are waited for at once; a larger tile is alone.
  static let longest = 1 << 20

  /// As few spans as hold the parts, in the order of the object.
  static func holding(_ parts: [Part]) -> [ObjectSpan] {
    var spans: [ObjectSpan] = []
    for part in parts.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      if let last = spans.indices.last, spans[last].take(part) { continue }
      spans.append(ObjectSpan(part))
    }
    return spans
  }

  private mutating func take(_ part: Part) -> Bool {
    let end = max(range.upperBound, part.range.upperBound)
    guard part.range.lowerBound - range.upperBound <= Self.widestGap, end - range.lowerBound <= Self.longest
    else {
      return false
    }
    range = range.lowerBound..<end
    parts.append(part)
    return true
  }
}
