/// The places of a text's fractions, so that a repeated number is copied, not converted: the tiles of a grid share
/// their edges and sizes.
struct NumberFormatCache: ~Copyable {
  /// The maximum length in bytes, that of -2.2250738585072014e-308.
  static let maxLength = 24

  private struct Place {
    var bits: UInt64
    var start: UInt32
    var count: UInt32
  }

  // One place per hash: of two numbers that share it, the later one is known.
  private static let placeCount = 64
  private let places: UnsafeMutablePointer<Place>

  init() {
    places = .allocate(capacity: Self.placeCount)
    places.initialize(repeating: Place(bits: 0, start: 0, count: 0), count: Self.placeCount)
  }

  deinit { places.deallocate() }

  /// Returns the range of this number in the text; nil if it is not known.
  func range(of number: Double) -> Range<Int>? {
    let place = places[Self.index(number)]
    guard place.bits == number.bitPattern, place.count > 0 else { return nil }
    return Int(place.start)..<Int(place.start + place.count)
  }

  mutating func add(_ number: Double, at range: Range<Int>) {
    guard range.upperBound <= UInt32.max else { return }
    places[Self.index(number)] = Place(
      bits: number.bitPattern, start: UInt32(range.lowerBound), count: UInt32(range.count))
  }

  /// Returns the index by Fibonacci hashing, whose top bits depend on all bits of the number.
  private static func index(_ number: Double) -> Int {
    Int(truncatingIfNeeded: (number.bitPattern &* 0x9e37_79b9_7f4a_7c15) >> 58)
  }
}
