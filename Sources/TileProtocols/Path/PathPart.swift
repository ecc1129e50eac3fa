/// A part of a path, in half the bytes of a range: requests hold some, and are copied on the way of a hit.
struct PathPart: Hashable {
  private let lower, upper: Int32

  /// - Parameter range: of no more than 2³¹ bytes, which no request line has.
  init(_ range: Range<Int>) {
    lower = Int32(truncatingIfNeeded: range.lowerBound)
    upper = Int32(truncatingIfNeeded: range.upperBound)
  }

  var range: Range<Int> { Range(uncheckedBounds: (Int(lower), Int(upper))) }
}
