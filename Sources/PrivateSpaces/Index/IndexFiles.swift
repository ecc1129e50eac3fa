import Glibc
import TileStorage
import ZigguratFiles

/// The files of a space's index. Each version has a file with a new name, so that backup programs need no modification
/// times. The former file is removed when the next one exists.
///
/// Each version also has new decoys without content, always the same number.
struct IndexFiles {
  let folder: SpaceFolder
  let keys: SpaceKeys

  struct Found {
    var index: SpaceIndex
    /// The file that it was read from.
    var name: String
    var file: FileIdentity
    /// Files that a killed writer or a restored backup has left.
    var older: [String]
  }

  private var action: String { "read the space's index" }
  /// The possible numbers of decoys of an index.
  private static let decoyCounts = 1...4
  /// The possible numbers of files that belong to no space, in a library that has had spaces. The range is so large
  /// that the files of some spaces do not stand out.
  private static let coverCounts = 64...255

  /// Returns the newest index; nil if there is none.
  ///
  /// An index that cannot be read is an error, because it may be the newest.
  func newest() throws(StorageError) -> Found? {
    let identity = keys.identity
    // A reader may list the names before the next file exists, and read after this one is removed.
    for _ in 0..<100 {
      let names = folder.names().filter { $0 == identity || keys.madeName($0, .index) }
      var all: [Found] = []
      for name in names {
        guard let found = try read(name) else { break }
        all.append(found)
      }
      if names.isEmpty || all.count < names.count {
        usleep(1000)
        continue
      }
      all.sort { ($0.index.sequence, $0.name) < ($1.index.sequence, $1.name) }
      var newest = all.removeLast()
      newest.older = all.map(\.name)
      return newest
    }
    return nil
  }

  private func read(_ name: String) throws(StorageError) -> Found? {
    var status = stat()
    guard stat(folder.path(name), &status) == 0, let bytes = try folder.read(name) else { return nil }
    guard let index = SpaceIndex(sealed: bytes, keys) else {
      throw StorageError(
        "\(action) \(folder.path(name))", "it is damaged; put a copy of the file back in its place")
    }
    return Found(index: index, name: name, file: FileIdentity(status), older: [])
  }

  /// Writes an index under a new name. The caller removes the files that it replaces.
  ///
  /// - Parameter decoyCount: the number of decoys; nil for a random number.
  /// - Returns: the index as read from its file, and the decoys that it no longer contains.
  func write(_ index: SpaceIndex, decoyCount: Int? = nil) throws(StorageError) -> (
    Found, goneDecoys: [String]
  ) {
    var index = index
    let old = index.decoys
    let byteCount = index.sealed(keys).count
    // On a full disk, only the index is written, because it is essential.
    if let new = try? makeDecoys(decoyCount ?? old?.count ?? Self.drawn(Self.decoyCounts), byteCount) {
      index.decoys = new
    }
    let (name, sealed) = (keys.makeName(.index), index.sealed(keys))
    // If the keys were wiped meanwhile, the index is encrypted with an invalid key.
    guard !keys.isWiped else { throw SpaceKeys.locked("write the space's index") }
    try folder.replace(name, with: sealed)
    var status = stat()
    guard stat(folder.path(name), &status) == 0 else { throw StorageError(action, errno: errno) }
    return (
      Found(index: index, name: name, file: FileIdentity(status), older: []),
      (old ?? []).filter { index.decoys?.contains($0) != true }
    )
  }

  private func makeDecoys(_ count: Int, _ byteCount: Int) throws(StorageError) -> [String] {
    var names: [String] = []
    do throws(StorageError) {
      // Decoys of exactly its size would reveal a large index.
      let most = byteCount > SizeClass.least ? 2 * byteCount : SizeClass.least
      for _ in 0..<count {
        let name = keys.makeName()
        try folder.scatter(name, byteCount: SizeClass.random(upTo: most))
        names.append(name)
      }
    } catch {
      for name in names { unlink(folder.path(name)) }
      throw error
    }
    return names
  }

  /// Writes files that belong to no space, once. Among them, the files of an index cannot be counted, or distinguished
  /// from the files of another space.
  func cover() throws(StorageError) {
    guard access(folder.path(SpaceFolder.coverName), F_OK) != 0 else { return }
    for _ in 0..<Self.drawn(Self.coverCounts) {
      try folder.scatter(SpaceKeys.hex(Sodium.random(16)), byteCount: SizeClass.least)
    }
    try folder.replace(SpaceFolder.coverName, with: Sodium.random(16))
  }

  private static func drawn(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + Sodium.random(below: range.count)
  }
}
