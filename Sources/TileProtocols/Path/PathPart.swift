/// A part of a path in half the bytes of a range: requests contain several, and are copied on the hit path.
struct PathPart: Hashable {
  private let lower, upper: Int32

  /// - Parameter range: at most 2³¹ bytes, more than any request line has.
  init(_ range: Range<Int>) {
    lower = Int32(truncatingIfNeeded: range.lowerBound)
    upper = Int32(truncatingIfNeeded: range.upperBound)
  }

  var range: Range<Int> { Range(uncheckedBounds: (Int(lower), Int(upper))) }
}
