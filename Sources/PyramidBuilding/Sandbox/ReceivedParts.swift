import TileGeometry

/// The parts of an archive that a sandboxed process tells one by one: each once, and in the end all of them. Who writes
/// them relies on that.
struct ReceivedParts {
  private var tiles: [Bool]
  private var missing: Int
  private var entries: Set<String> = []
  /// Bytes that may yet come, and those that came.
  private var room, filled: Int

  /// Entries that an archive has beside its tiles are few.
  private static let mostEntries = 100

  /// `nil` if `memory`, in bytes, is too small even to count so many tiles: no picture that fits has them.
  init?(of plan: BuildPlan, within memory: Int) {
    let count = plan.pyramid.tileCount
    guard count <= memory / 64 else { return nil }
    tiles = Array(repeating: false, count: count)
    missing = count
    room = plan.mostBytes
    filled = 0
  }

  var isWhole: Bool { missing == 0 }

  /// Counts the bytes of a part; false if all parts together are more than the picture can fill.
  /// - Parameter most: bytes that all parts may have besides; nil if there is no other limit.
  mutating func grow(by byteCount: Int, ofAll most: Int? = nil) -> Bool {
    room -= byteCount
    filled += byteCount
    return room >= 0 && filled <= most ?? .max
  }

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
