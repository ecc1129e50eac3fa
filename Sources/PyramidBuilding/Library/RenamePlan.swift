import ZigguratFiles

/// The order in which archives get each other's ids: along chains from the end that is free, round circles by way of a name
/// that nobody has. If the source at the end of a chain does not exist any more, its archive is discarded first.
struct RenamePlan {
  /// The ids of archives that are to be renamed, by the new ids.
  private var wanted: [ImageID: ImageID]
  /// Ids whose archives are of other content than their sources, and have not given way.
  private var occupied: Set<ImageID>

  /// - Parameters:
  ///   - wanted: by the new ids the old ones, none of them twice.
  ///   - occupied: ids whose archives are to give way. One that goes nowhere itself is discarded if another wants its
  ///     place: the words beside it are about a picture that no source shows any more.
  init(wanted: [ImageID: ImageID], occupied: Set<ImageID>) {
    self.wanted = wanted
    self.occupied = occupied
  }

  var isEmpty: Bool { wanted.isEmpty }

  /// - Parameters:
  ///   - move: of the old id to the new one; false where it is where it was.
  ///   - discard: removes an archive and its words to where they can be restored; false where it is where it was.
  ///   - aside: moves the archive of the last of a circle's moves out of the way. The circle's moves follow, from old to
  ///     new ids. Returns the id that the archive has meanwhile; nil if it is where it was.
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
          // A circle that fails is undone, so that nothing of it is discarded.
          if isInCircle { dropBlocked([old]) } else if wanted[old] != nil { free.append(old) }
          continue
        }
        occupied.remove(new)
        occupied.remove(old)
        if wanted[old] != nil { free.append(old) }
      }
      // Circles are left.
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

  /// The moves of a circle in their order. The last of them is that of `old`, whose id the first one needs.
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

  /// Gives up what wants the place of archives that nobody moves away.
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
