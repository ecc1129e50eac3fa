import TileGeometry

/// The parts of an archive that a sandboxed process has sent. Each part may arrive once, and all must arrive; the
/// archive's writer relies on that.
struct ReceivedParts {
  private var tiles: [Bool]
  private var missing: Int
  private var entries: Set<String> = []
  /// The remaining bytes, and the received ones.
  private var room, filled: Int

  /// The maximum number of entries besides the tiles.
  private static let maxEntries = 100

  /// Returns `nil` if `memory`, in bytes, is too small to track so many tiles. No picture that fits into it has them.
  init?(of plan: BuildPlan, within memory: Int) {
    let count = plan.pyramid.tileCount
    guard count <= memory / 64 else { return nil }
    tiles = Array(repeating: false, count: count)
    missing = count
    room = plan.maxBytes
    filled = 0
  }

  var isWhole: Bool { missing == 0 }

  /// Counts the bytes of a part. Returns false if all parts together exceed the picture's maximum.
  ///
  /// - Parameter most: another maximum of bytes for all parts; nil if there is none.
  mutating func grow(by byteCount: Int, ofAll most: Int? = nil) -> Bool {
    room -= byteCount
    filled += byteCount
    return room >= 0 && filled <= most ?? .max
  }

  /// Whether the tile exists and has not arrived before. Records it.
  mutating func insert(tile: Int) -> Bool {
    guard tiles.indices.contains(tile), !tiles[tile] else { return false }
    tiles[tile] = true
    missing -= 1
    return true
  }

  /// Whether the entry's name is a path below the archive's root, and it has not arrived before. Records it.
  mutating func insert(entry name: String) -> Bool {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    let isPath = parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." } && name.utf8.count <= 255
    guard isPath, entries.count < Self.maxEntries else { return false }
    return entries.insert(name).inserted
  }
}
