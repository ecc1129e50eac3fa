import ZigguratFiles

/// The order in which archives exchange ids. A chain starts at the end with a free id; a cycle needs a temporary id. If
/// the source at the end of a chain no longer exists, its archive is discarded first.
struct RenamePlan {
  /// The present ids of archives to be renamed, by their new ids.
  private var wanted: [ImageID: ImageID]
  /// Ids of archives that differ from their sources' content and have not been moved or discarded.
  private var occupied: Set<ImageID>

  /// - Parameters:
  ///   - wanted: the old ids by the new ones, each at most once.
  ///   - occupied: ids of archives that must be moved or discarded. An archive without a new id is discarded if another
  ///     one wants its id, because its metadata describe a picture without a source.
  init(wanted: [ImageID: ImageID], occupied: Set<ImageID>) {
    self.wanted = wanted
    self.occupied = occupied
  }

  var isEmpty: Bool { wanted.isEmpty }

  /// - Parameters:
  ///   - move: moves an archive from the old id to the new one; returns false on failure.
  ///   - discard: moves an archive and its metadata to the trash; returns false on failure.
  ///   - aside: moves the archive of a cycle's last move out of the way. Its argument is the moves of the cycle.
  ///     Returns the temporary id; nil on failure.
  mutating func run(
    _ move: (ImageID, ImageID) -> Bool, discard: (ImageID) -> Bool,
    aside: ([(old: ImageID, new: ImageID)]) -> ImageID?
  ) {
    let leaving = Set(wanted.values)
    var free = wanted.keys.filter { !occupied.contains($0) || !leaving.contains($0) }.sorted()
    var isInCircle = false
    while true {
      while let new = free.popLast() {
        guard let old = wanted.removeValue(forKey: new) else { continue }
        guard !occupied.contains(new) || discard(new), move(old, new) else {
          // A failed cycle is undone, so nothing of it is discarded.
          if isInCircle { dropBlocked([old]) } else if wanted[old] != nil { free.append(old) }
          continue
        }
        occupied.remove(new)
        occupied.remove(old)
        if wanted[old] != nil { free.append(old) }
      }
      // Only cycles are left.
      isInCircle = true
      guard let first = wanted.keys.min(), let new = wanted.first(where: { $0.value == first })?.key else {
        return
      }
      if let meanwhile = aside(circle(endingWith: first)) {
        occupied.remove(first)
        wanted[new] = meanwhile
        free = [first]
      } else {
        wanted[new] = nil
        dropBlocked([first])
      }
    }
  }

  /// Returns the moves of a cycle in order. The last one moves `old`, which frees the id for the first one.
  private func circle(endingWith old: ImageID) -> [(old: ImageID, new: ImageID)] {
    var moves: [(old: ImageID, new: ImageID)] = []
    var new = old
    while let next = wanted[new] {
      moves.append((next, new))
      if next == old { break }
      new = next
    }
    return moves
  }

  /// Drops renames to ids whose archives nothing moves away.
  private mutating func dropBlocked(_ ids: some Sequence<ImageID>) {
    var leaving = Set(wanted.values)
    var suspects = Array(ids)
    while let id = suspects.popLast() {
      guard occupied.contains(id), !leaving.contains(id), let old = wanted.removeValue(forKey: id) else {
        continue
      }
      leaving.remove(old)
      suspects.append(old)
    }
  }
}
