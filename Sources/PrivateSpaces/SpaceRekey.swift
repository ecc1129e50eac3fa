import Glibc
import TileStorage
package import ZigguratFiles

/// A change of a space's key, for example after somebody else has obtained it. It encrypts everything in the space
/// again.
///
/// New files are written beside the old ones, which do not change until the keyring has the new key. Meanwhile the old
/// index contains the new key, encrypted with the password's key, so that a later call can continue. The lock for
/// writing the keyring also covers the removal of the old index. Afterwards nobody can change the space under its old
/// key. The new index lists the other old files. This call removes them, or the next process that opens the space.
package final class SpaceRekey {
  /// The work that is left.
  package struct Extent: Hashable, Sendable {
    /// The number of pictures that are not encrypted again yet, including deleted ones that can be restored.
    package let pictures: Int
    /// The room on the disk that is needed until the end.
    package let byteCount: Int
    /// The free room on the disk.
    package let freeByteCount: Int
  }

  /// The progress, in bytes that were read.
  package struct Progress: Hashable, Sendable {
    package internal(set) var done = 0
    package internal(set) var total: Int
  }

  package enum Outcome: Hashable, Sendable {
    case done
    /// The space has its new key, but some old files could not be removed, for this reason. The next call removes them,
    /// or the next process that opens the space.
    case uncleared(StorageError)
    /// The call was stopped. The next call continues from there.
    case stopped
    /// Pictures that cannot be read, each with its reason. The space keeps its old key.
    case defective([String])
  }

  private let spaces: PrivateSpaces
  private let folder: SpaceFolder
  private let space: PrivateSpace
  private let spaceKey: LockedBytes
  private let passwordKey: LockedBytes
  /// A lock that prevents other changes of a key in this folder while it is open.
  private let turn: Int32
  private var next: NextKey?
  /// Archives under the new key, by the generation that they copy.
  private var archives: [String: SpaceIndex.Entry] = [:]
  private var sidecars: [String: SpaceIndex.Record] = [:]
  /// The members of `archives` that an interrupted call may not have verified.
  private var unproven: Set<String> = []
  /// Whether an earlier call was interrupted when only old files were left, which this one has removed.
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
    // The lock is on a file that is never replaced.
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

  /// Changes the key, or continues that. If it throws, the space is unchanged under its old key. After a failure of the
  /// system at the keyring itself, the space is complete under the key in the keyring.
  ///
  /// - Parameters:
  ///   - progress: called from time to time.
  ///   - isStopped: called from time to time.
  package func run(
    progress: (Progress) -> Void = { _ in }, isStopped: () -> Bool = { false }
  ) throws(StorageError) -> Outcome {
    do throws(StorageError) {
      if let unfinished = try change(progress, isStopped) { return unfinished }
    } catch {
      // On a full disk, everybody else needs the room, too. But once the keyring has the new key, the copies are the
      // space.
      if error.isOfFullDisk, spaces.has(spaceKey, under: passwordKey) {
        removeCopies()
      }
      throw error
    }
    // From here on, only the new files are valid.
    return clear()
  }

  /// Does everything until the keyring has the new key.
  /// - Returns: nil if it has.
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
      // Changes in the meantime are encrypted again, too.
      if try isSwitched(index, to: next) { return nil }
    }
  }

  /// Removes the old files.
  private func clear() -> Outcome {
    do throws(StorageError) {
      try PrivateSpace(folder: folder, keys: next!.keys).prepare()
      return .done
    } catch { return .uncleared(error) }
  }

  private func begin() throws(StorageError) -> NextKey {
    let new = NextKey.random()
    try space.change { (index) throws(StorageError) in
      // If the password has changed since the start of the call, no key could decrypt the next key. The files of this
      // call could then not be distinguished from those of other spaces.
      guard spaces.has(spaceKey, under: passwordKey) else { throw PrivateSpaces.changedMeanwhile }
      index.nextKey = new.sealed(under: passwordKey)
      return []
    }
    next = new
    return new
  }

  /// Finds the files that an earlier call has encrypted with the new key, and removes its other files.
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

  /// Encrypts everything in the index that is not encrypted with the new key yet.
  /// - Returns: the pictures that cannot be read; nil if the call was stopped.
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

  /// Writes the new key to the keyring, and removes the old index. Then the old key opens no space.
  /// - Returns: false if the space is no longer as in `index`.
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
      // Under the same lock, and after the keyring is on the disk. A process that waits for the lock with the old key
      // would write into a space that nobody can open.
      for name in old.older + [old.name] { unlink(folder.path(name)) }
      // This also reaches processes that have opened the space with the old key since the request of `replaceKey`.
      try? spaces.askToForget()
      return true
    }
  }

  /// Returns the entry of the same image for the files under the new key.
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
