/// The difference between the tiles of two coverages: the work of a view whose viewport has changed.
public struct TileChanges: Hashable, Sendable {
  /// The tiles that only the new coverage has, in the order in which to fetch them.
  public let added: [CoveredTile]
  /// The tiles that both coverages have, with their places in the new viewport.
  public let kept: [CoveredTile]
  /// The tiles that only the previous coverage has, row by row.
  public let dropped: [TileAddress]
}

extension Coverage {
  /// Returns the tiles to add, to keep and to drop if this coverage follows another one.
  ///
  /// `added` and `kept` together are `tiles(margin:limit:)` of this coverage; `kept` and `dropped` together are those
  /// of the previous one. Coverages of different pyramids or levels have no tile in common.
  ///
  /// - Parameters:
  ///   - previous: the coverage whose tiles are present; `nil` if no tiles are present.
  ///   - margin: rings of tiles around both visible areas, clamped to `0...maximumMargin`.
  ///   - limit: the largest number of tiles of each coverage, as in `tiles(margin:limit:)`.
  public func changes(
    from previous: Coverage?, margin: Int = 0, limit: Int = defaultLimit
  ) -> TileChanges {
    let old = previous?.sets(margin: margin, limit: limit).all
    let isComparable = previous?.pyramid == pyramid
    let new = sets(margin: margin, limit: limit).all
    var (added, kept): ([CoveredTile], [CoveredTile]) = ([], [])
    for tile in tiles(margin: margin, limit: limit) {
      if isComparable, let old, old.contains(tile.address) { kept.append(tile) } else { added.append(tile) }
    }
    let dropped = old.map { $0.filter { !isComparable || !new.contains($0) } } ?? []
    return TileChanges(added: added, kept: kept, dropped: dropped)
  }
}
