import TileGeometry

/// The parts of an archive that a cell tells one by one: each once, and in the end all of them. Who writes them relies
/// on that.
struct ToldParts {
  private var tiles: [Bool]
  private var missing: Int
  private var entries: Set<String> = []

  /// Entries that an archive has beside its tiles are few.
  private static let mostEntries = 100

  /// Nil where so many tiles could not even be counted in `memory`, in bytes: no picture that fits has them.
  init?(of pyramid: Pyramid, within memory: Int) {
    guard pyramid.tileCount <= memory / 64 else { return nil }
    tiles = Array(repeating: false, count: pyramid.tileCount)
    missing = pyramid.tileCount
  }

  var isWhole: Bool { missing == 0 }

  /// Whether it may come now.
  mutating func insert(tile: Int) -> Bool {
    guard tiles.indices.contains(tile), !tiles[tile] else { return false }
    tiles[tile] = true
    missing -= 1
    return true
  }

  /// The same of an entry, whose name is a path below the archive's root.
  mutating func insert(entry name: String) -> Bool {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    let isPath = parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." } && name.utf8.count <= 255
    guard isPath, entries.count < Self.mostEntries else { return false }
    return entries.insert(name).inserted
  }
}
