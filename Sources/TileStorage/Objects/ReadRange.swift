/// A part of an object that one request reads for several tiles in it.
struct ReadRange: Equatable {
  /// A tile and its range, including the header before it.
  struct Part: Equatable {
    let tile: Int
    let range: Range<Int>
  }

  private(set) var range: Range<Int>
  private(set) var parts: [Part]

  init(_ part: Part) { (range, parts) = (part.range, [part]) }

  /// The maximum number of bytes between two tiles that are read and dropped. A second request costs more.
  static let widestGap = 32 << 10
  /// The maximum number of bytes of one request; a larger tile is read alone.
  static let maxLength = 1 << 20

  /// Returns the smallest number of spans that contain the parts, in the order of the object.
  static func holding(_ parts: [Part]) -> [ReadRange] {
    var spans: [ReadRange] = []
    for part in parts.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      if let last = spans.indices.last, spans[last].take(part) { continue }
      spans.append(ReadRange(part))
    }
    return spans
  }

  private mutating func take(_ part: Part) -> Bool {
    let end = max(range.upperBound, part.range.upperBound)
    guard part.range.lowerBound - range.upperBound <= Self.widestGap, end - range.lowerBound <= Self.maxLength
    else {
      return false
    }
    range = range.lowerBound..<end
    parts.append(part)
    return true
  }
}
