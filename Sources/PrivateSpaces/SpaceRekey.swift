import Glibc
import TileStorage
package import ZigguratFiles

/// A space gets another key, as after somebody else came by its key: everything of it is sealed anew.
///
/// New files are written beside the old ones, and until the keyring names the new key nothing of the old ones has
/// changed. The new key is kept meanwhile in the old index, sealed under the password's, so that a call after a
/// killed one goes on from what that had sealed. The old index goes with the lock under which the keyring is written, so
/// that nobody changes the space under its old key from then on. The new index names the other old files, which are
/// removed afterwards: by this call, or by whoever opens the space next.
package final class SpaceRekey {
  /// The work that is left.
  package struct Extent: Hashable, Sendable {
    /// Pictures yet to be sealed anew, those that were deleted and can come back among them.
    package let pictures: Int
    /// Room on the disk that it takes until it is done.
    package let byteCount: Int
    /// Room that there is.
    package let freeByteCount: Int
  }

  /// The progress, in bytes that were read.
  package struct Progress: Hashable, Sendable {
    package internal(set) var done = 0
    package internal(set) var total: Int
  }

  package enum Outcome: Hashable, Sendable {
    case done
    /// The space has its new key. Not all of the old is cleared away, for this reason: by the next call, or whoever
    /// opens the space next.
    case uncleared(StorageError)
    /// The call was stopped. The next call continues with what was sealed.
    case stopped
    /// Pictures that cannot be read, each with its reason; the space keeps its old key.
    case defective([String])
  }

  private let spaces: PrivateSpaces
  private let folder: SpaceFolder
  private let space: PrivateSpace
  private let spaceKey: LockedBytes
  private let passwordKey: LockedBytes
  /// Nobody else changes a key in this folder as long as it is open.
  private let turn: Int32
  private var next: NextKey?
  /// Archives under the new key, by the generation of their origin.
  private var archives: [String: SpaceIndex.Entry] = [:]
  private var sidecars: [String: SpaceIndex.Record] = [:]
  /// The members of `archives` that a killed call may not have verified.
  private var unproven: Set<String> = []
  /// An earlier call was killed when nothing was left but to remove the old files, which this one has done.
  package private(set) var wasFinished: Bool

  init(
    _ spaces: PrivateSpaces, _ folder: SpaceFolder, spaceKey: LockedBytes, passwordKey: LockedBytes
  ) throws(StorageError) {
    space = try PrivateSpace(folder: folder, keys: SpaceKeys(spaceKey: spaceKey))
    self.spaces = spaces
    self.folder = folder
    self.spaceKey = spaceKey
    self.passwordKey = passwordKey
    // Set before the descriptor, which `deinit` closes only if all properties are set.
    wasFinished = false
    turn = try Self.turn(folder, space.keys)
    wasFinished = try space.index().retired != nil
    try space.prepare()
    next = try space.index().nextKey.flatMap { NextKey(sealed: $0, under: passwordKey) }
    if let next { findCopies(next.keys) }
  }

  deinit { close(turn) }

  private static let action = "change the space's key"

  private static func turn(_ folder: SpaceFolder, _ keys: SpaceKeys) throws(StorageError) -> Int32 {
    // A file that is never replaced.
    try folder.locked { () throws(StorageError) in try IndexFiles(folder: folder, keys: keys).cover() }
    let descriptor = open(folder.path(SpaceFolder.coverName), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StorageError(action, errno: errno) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw StorageError(action, "another change of a key is under way in this library", code: EAGAIN)
    }
    return descriptor
  }

  package func extent() throws(StorageError) -> Extent {
    var status = statvfs()
    guard statvfs(folder.path, &status) == 0 else { throw StorageError(Self.action, errno: errno) }
    let index = try space.index()
    let rest = index.allEntries.filter { archives[$0.generation] == nil }
    let archiveCount = rest.reduce(0) { $0 + SizeClass.size(holding: $1.bytes + 2 * Seal.overhead) }
    let sidecarCount = index.allEntries.reduce(0) {
      $0 + ($1.sidecar.map { SizeClass.size(holding: $0.bytes) } ?? 0)
    }
    // Two new indexes beside the old one, each with decoys of up to twice its size.
    let indexCount = 20 * index.sealed(space.keys).count
    return Extent(
      pictures: rest.count, byteCount: archiveCount + sidecarCount + indexCount,
      freeByteCount: Int(
        clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).0))
  }

  /// Does it, or goes on with it. What it throws leaves the space as it was, under its old key, unless the system
  /// failed at the keyring itself: then it is whole under the key that the keyring has.
  ///
  /// - Parameters:
  ///   - progress: is told now and then.
  ///   - isStopped: asked now and then.
  package func run(
    progress: (Progress) -> Void = { _ in }, isStopped: () -> Bool = { false }
  ) throws(StorageError) -> Outcome {
    do throws(StorageError) {
      if let unfinished = try change(progress, isStopped) { return unfinished }
    } catch {
      // On a full disk everybody else needs the room, too; but once the keyring names them the copies are the space.
      if error.isOfFullDisk, spaces.has(spaceKey, under: passwordKey) {
        removeCopies()
      }
      throw error
    }
    // From here on the new files are the only ones.
    return clear()
  }

  /// All up to the keyring's naming the new key.
  /// - Returns: nil where it does.
  func change(
    _ progress: (Progress) -> Void = { _ in }, _ isStopped: () -> Bool = { false }
  ) throws(StorageError) -> Outcome? {
    let next: NextKey
    if let begun = self.next { next = begun } else { next = try begin() }
    while true {
      let index = try space.index()
      let defects = try copy(index, next.keys, progress, isStopped)
      guard let defects else { return .stopped }
      guard defects.isEmpty else { return .defective(defects) }
      // What was changed meanwhile is sealed anew, too.
      if try isSwitched(index, to: next) { return nil }
    }
  }

  /// Removes what is left of the old.
  private func clear() -> Outcome {
    do throws(StorageError) {
      try PrivateSpace(folder: folder, keys: next!.keys).prepare()
      return .done
    } catch { return .uncleared(error) }
  }

  private func begin() throws(StorageError) -> NextKey {
    let new = NextKey.random()
    try space.change { (index) throws(StorageError) in
      // A password that was changed since the call began opens no key that is sealed under it: what the call leaves
      // could never be told from what is nobody's.
      guard spaces.has(spaceKey, under: passwordKey) else { throw PrivateSpaces.changedMeanwhile }
      index.nextKey = new.sealed(under: passwordKey)
      return []
    }
    next = new
    return new
  }

  /// Finds what an earlier call has sealed under the new key, and removes what else it left.
  private func findCopies(_ keys: SpaceKeys) {
    for name in folder.names() where keys.made(name) {
      if keys.madeName(name), let archive = try? SealedArchive(file: name, folder: folder, keys: keys),
        let source = archive.source
      {
        archives[source] = archive.indexEntry(name)
        unproven.insert(source)
      } else {
        unlink(folder.path(name))
      }
    }
  }

  private func removeCopies() {
    guard let next else { return }
    for name in folder.names() where next.keys.made(name) { unlink(folder.path(name)) }
    archives = [:]
    sidecars = [:]
  }

  /// Seals everything that the index names and that is not yet.
  /// - Returns: what cannot be read; nil where it was stopped.
  private func copy(
    _ index: SpaceIndex, _ keys: SpaceKeys, _ progress: (Progress) -> Void, _ isStopped: () -> Bool
  ) throws(StorageError) -> [String]? {
    let all =
      index.entries.sorted { $0.key < $1.key }
      + (index.deletions ?? [:]).values.flatMap { $0.entries.sorted { $0.key < $1.key } }
    var state = Progress(total: all.reduce(0) { $0 + $1.value.bytes })
    var defects: [String] = []
    for (id, entry) in all {
      let before = state.done
      do throws(StorageError) {
        if unproven.remove(entry.generation) != nil, let copy = archives[entry.generation],
          try !SealedArchive(id: id, entry: copy, folder: folder, keys: keys).isWhole
        {
          unlink(folder.path(copy.file))
          archives[entry.generation] = nil
        }
        if archives[entry.generation] == nil {
          let archive = try SealedArchive(id: id, entry: entry, folder: folder, keys: space.keys)
          let copy = try archive.copied(to: keys, in: folder) { bytes in
            state.done = before + bytes
            progress(state)
            return isStopped()
          }
          guard let copy else { return nil }
          archives[entry.generation] = copy
        }
        if let record = entry.sidecar, sidecars[record.generation] == nil,
          let text = try space.sidecar(of: entry)
        {
          sidecars[record.generation] = try folder.publish(sidecar: text, keys)
        }
      } catch {
        guard !error.isTemporary else { throw error }
        defects.append("\(id): \(error.reason)")
      }
      state.done = before + entry.bytes
      progress(state)
      if isStopped() { return nil }
    }
    return defects
  }

  /// Lets the keyring name the new key, and removes the old index: whoever has the old key finds no space.
  /// - Returns: false where the space is not any more what `index` says.
  private func isSwitched(_ index: SpaceIndex, to next: NextKey) throws(StorageError) -> Bool {
    try folder.locked { () throws(StorageError) in
      let old = try space.newestIndex()
      guard old.index == index else { return false }
      var new = index
      new.sequence += 1
      new.nextKey = nil
      new.retired = folder.names().filter { space.keys.made($0) }
      new.decoys = []
      new.entries = index.entries.mapValues(copy)
      new.deletions = index.deletions?.mapValues {
        SpaceIndex.Deletion(time: $0.time, entries: $0.entries.mapValues(copy))
      }
      _ = try IndexFiles(folder: folder, keys: next.keys).write(new, decoyCount: index.decoys?.count)
      try spaces.replaceKey(spaceKey, by: next.key, under: passwordKey)
      // Under the same lock, and not before the keyring is on the disk: who waits for the lock with the old key would
      // write into a space that nobody opens any more.
      for name in old.older + [old.name] { unlink(folder.path(name)) }
      // And who has opened it with the old key since replaceKey asked.
      try? spaces.askToForget()
      return true
    }
  }

  /// The same image's line, with everything else that it says, of the files under the new key.
  private func copy(_ entry: SpaceIndex.Entry) -> SpaceIndex.Entry {
    var copy = entry
    let archive = archives[entry.generation]!
    copy.file = archive.file
    copy.generation = archive.generation
    copy.bytes = archive.bytes
    copy.sidecar = entry.sidecar.map { sidecars[$0.generation]! }
    return copy
  }
}
