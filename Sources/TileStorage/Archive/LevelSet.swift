import TileGeometry

/// The set of a pyramid's levels that are stored.
package struct LevelSet: Hashable, Sendable {
  private var bits: UInt64

  /// The empty set.
  package static let none = LevelSet(bits: 0)
  /// The set of all levels that a pyramid can have.
  package static let all = LevelSet(bits: .max)

  /// Creates the set of all levels from `coarsest` on.
  ///
  /// - Precondition: `coarsest` is in 0..<64.
  package init(from coarsest: Int) {
    precondition((0..<64).contains(coarsest), "a pyramid has fewer than 64 levels")
    bits = .max << UInt64(coarsest)
  }

  private init(bits: UInt64) { self.bits = bits }

  /// Whether the level is in the set; false for a level that no pyramid has.
  package func contains(_ level: Int) -> Bool { level >= 0 && level < 64 && bits >> UInt64(level) & 1 == 1 }

  mutating func insert(_ level: Int) { if level >= 0, level < 64 { bits |= 1 << UInt64(level) } }

  /// The lowest level of the set; 0 for an empty one.
  package var coarsest: Int { bits == 0 ? 0 : bits.trailingZeroBitCount }

  private var finest: Int { bits == 0 ? 0 : 63 - bits.leadingZeroBitCount }

  /// Returns the amount by which Deep Zoom's numbers of these levels exceed the stored ones.
  ///
  /// `vips dzsave` counts from the coarsest level that it writes. With `--depth one`, full resolution alone is level 0.
  /// With `--depth onetile`, 0 is the level that fits in one tile.
  func offset(in pyramid: Pyramid) -> Int {
    let top = pyramid.topLevel
    guard self != .none, finest < top else { return 0 }
    return finest == 0 || finest == top - pyramid.finestSingleTileLevel ? top - finest : 0
  }

  func raised(by offset: Int) -> LevelSet { LevelSet(bits: bits << UInt64(offset)) }
}
