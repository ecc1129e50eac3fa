import Glibc
import Synchronization
package import TileGeometry
package import TileStorage
package import ZigguratFiles

/// An open space: a store of encrypted archives, and the keys to it. The keys are wiped when the last owner of the
/// space and of its archives releases them.
package final class PrivateSpace: ArchiveStore, Sendable {
  let folder: SpaceFolder
  let keys: SpaceKeys
  private let known = Mutex(Known())
  private var indexFiles: IndexFiles { IndexFiles(folder: folder, keys: keys) }
  /// An identifier that is the same for every opening of the space, and differs from that of every other space.
  package let identity: String

  /// The index that was read last.
  private struct Known {
    var index = SpaceIndex()
    var name = ""
    var file: FileIdentity?
  }

  init(folder: SpaceFolder, keys: SpaceKeys) throws(StorageError) {
    CoreDumps.forbid()
    self.folder = folder
    self.keys = keys
    identity = keys.identity
    _ = try index()
  }

  /// Wipes the keys while threads may still use the space. Afterwards nothing can be opened or written.
  package func wipeKeys() {
    keys.wipe()
    known.withLock { $0 = Known() }
  }

  /// Whether the folder of the spaces exists. It does not exist while the library's disk is not mounted.
  package var isReachable: Bool { access(folder.path, F_OK) == 0 }

  /// Returns the ids of all images, sorted.
  package func ids() throws(StorageError) -> [ImageID] { SpaceIndex.ids(try index().entries) }

  /// Returns a number that differs after every change.
  package func version() throws(StorageError) -> Int { try index().sequence }

  /// Returns every image with the path of its archive.
  package func files() throws(StorageError) -> [(id: ImageID, path: String)] {
    try index().entries.compactMap { text, entry in ImageID(text).map { ($0, folder.path(entry.file)) } }
  }

  /// Opens the archive of an image; nil if the space has no such image.
  package func archive(ofID id: ImageID) throws(StorageError) -> SealedArchive? {
    guard let entry = try index().entries[id.text] else { return nil }
    do throws(StorageError) {
      return try open(id, entry)
    } catch  where error.kind == .notFound {
      // It may have been replaced since the index was read.
      guard let newer = try index().entries[id.text] else { return nil }
      if newer == entry { throw error }
      return try open(id, newer)
    }
  }

  private func open(_ id: ImageID, _ entry: SpaceIndex.Entry) throws(StorageError) -> SealedArchive {
    // An older version of the metadata, or none, would be as wrong as another picture.
    _ = try sidecar(of: entry)
    return try SealedArchive(id: id.text, entry: entry, folder: folder, keys: keys)
  }

  /// Returns an image for servers; nil if the space has no such image. Its tiles are decrypted on demand and stay in
  /// memory for a while.
  package func servedArchive(ofID id: ImageID) throws(StorageError) -> TileArchive? {
    guard let sealed = try archive(ofID: id) else { return nil }
    return TileArchive(
      name: id.name, pyramid: sealed.pyramid,
      format: sealed.format, generation: sealed.generation, backing: DecryptedTiles(sealed))
  }

  package func prepare() throws(StorageError) {
    try folder.locked { () throws(StorageError) in
      _ = AtomicFile.removeLeftovers(in: folder.path)
      let found = try newestIndex()
      let kept = found.index.files
      // Archives that a killed builder did not add to the index, and old ones that it did not remove.
      for name in folder.names() where keys.madeName(name) && !kept.contains(name) {
        unlink(folder.path(name))
      }
      for name in found.older { unlink(folder.path(name)) }
    }
    // Files that an interrupted change of the space's key has left.
    if try index().retired != nil { try change { _ in [] } }
  }

  package func buildRecord(ofID id: ImageID) -> BuildRecord? {
    (try? archive(ofID: id))?.buildRecord
  }

  package func makeWriter(
    id: ImageID, pyramid: Pyramid, format: TileFormat, replacing: Bool
  ) throws(StorageError) -> any ArchiveWriter {
    try makeWriter(id: id, pyramid: pyramid, format: format, replacing: replacing, sidecar: nil)
  }

  /// - Parameter sidecar: the metadata of visitors; nil keeps the present sidecar.
  func makeWriter(
    id: ImageID, pyramid: Pyramid, format: TileFormat, replacing: Bool = true, sidecar: [UInt8]?
  ) throws(StorageError) -> SealedArchiveWriter {
    try SealedArchiveWriter(keys: keys, folder: folder, id: id.text, pyramid: pyramid, format: format) {
      (entry, file) throws(StorageError) in
      try self.enter(id, entry, file, replacing: replacing, sidecar: sidecar)
    }
  }

  package func count() throws(StorageError) -> Int { try index().entries.count }

  package func trash(_ ids: [ImageID]) throws(StorageError) -> TrashFolder.Failures {
    // One change of the index: all of them or none.
    _ = try delete(ids, at: time(nil))
    return TrashFolder.Failures()
  }

  package func purgeTrash(until oldest: Int) throws(StorageError) { try purgeDeleted(until: oldest) }

  package func remove(id: ImageID) throws(StorageError) {
    try change { $0.entries.removeValue(forKey: id.text)?.files }
  }

  /// Publishes a complete archive and adds it to the index. Then it removes the archive that it replaces.
  /// - Parameters:
  ///   - replacing: whether it may replace an image of this id; otherwise that is an error (EEXIST).
  ///   - sidecar: the metadata of visitors; nil keeps the present sidecar.
  func enter(
    _ id: ImageID, _ entry: SpaceIndex.Entry, _ file: AtomicFile, replacing: Bool = true,
    sidecar: [UInt8]? = nil
  ) throws(StorageError) {
    try change { (index) throws(StorageError) in
      guard replacing || index.entries[id.text] == nil else {
        throw StorageError("write \(id)", AtomicFile.taken, code: EEXIST)
      }
      // A dictionary treats two ids as equal that differ only in their Unicode form. The other image would be lost.
      if let other = index.entries.index(forKey: id.text).map({ index.entries[$0].key }),
        !other.utf8.elementsEqual(id.text.utf8)
      {
        throw StorageError(
          "write \(id)", "the space has an image whose name differs by its Unicode form alone", code: EEXIST)
      }
      try folder.publish(file)
      let old = index.entries[id.text]
      var entry = entry
      entry.sidecar = old?.sidecar
      if let sidecar { entry.sidecar = try folder.publish(sidecar: sidecar, keys) }
      index.entries[id.text] = entry
      return (old?.files ?? []).filter { !entry.files.contains($0) }
    }
  }

  /// - Parameter body: changes the index, and returns files that are no longer needed; nil if nothing has changed.
  func change(_ body: (inout SpaceIndex) throws(StorageError) -> [String]?) throws(StorageError) {
    try folder.locked { () throws(StorageError) in
      let old = try newestIndex()
      var index = old.index
      guard let gone = try body(&index) else { return }
      let retired = index.retired ?? []
      index.sequence += 1
      index.retired = nil
      if index.decoys == nil { hideWhatIsThere(old.index) }
      // Before the index without them is written: if the process is killed in between, they are still listed.
      for name in retired { unlink(folder.path(name)) }
      let (new, goneDecoys) = try indexFiles.write(index)
      known.withLock { known in
        if !keys.isWiped { known = Known(index: new.index, name: new.name, file: new.file) }
      }
      for name in [old.name] + old.older + goneDecoys + gone { unlink(folder.path(name)) }
    }
  }

  /// Hides the times of a space's files from an earlier version, which did not hide them.
  private func hideWhatIsThere(_ index: SpaceIndex) {
    // On a full disk, the user's change is more important.
    try? indexFiles.cover()
    for name in index.files { folder.hideTime(name) }
  }

  /// Returns the index, and reads it if it has changed.
  func index() throws(StorageError) -> SpaceIndex {
    guard !keys.isWiped else { throw SpaceKeys.locked("read the space's index") }
    let last = known.withLock { $0 }
    var status = stat()
    if last.file != nil, stat(folder.path(last.name), &status) == 0, FileIdentity(status) == last.file {
      return last.index
    }
    return try newestIndex().index
  }

  /// Reads the newest index, even if the folder has several because a writer was killed. `index` may return an older
  /// one.
  func newestIndex() throws(StorageError) -> IndexFiles.Found {
    let action = "read the space's index in \(folder.path)"
    guard !keys.isWiped else { throw SpaceKeys.locked(action) }
    let last = known.withLock { $0.index.sequence }
    guard let found = try indexFiles.newest() else {
      throw StorageError(action, "it is not there; was the space's key changed?", code: ENOENT)
    }
    guard found.index.sequence >= last else {
      throw StorageError(action, "it is older than the one that was read before")
    }
    known.withLock { known in
      // Another thread may have read a newer one in the meantime.
      guard !keys.isWiped, found.index.sequence >= known.index.sequence else { return }
      known = Known(index: found.index, name: found.name, file: found.file)
    }
    return found
  }
}
