import Glibc
import PyramidBuilding
import Synchronization
import TileStorage
package import ZigguratFiles
package import ZigguratImageLibrary
package import ZigguratPrivateSpaces
package import ZigguratUploading

/// The images of an open space, for the server.
package struct SpaceSource: OpenSpace {
  package let space: PrivateSpace
  /// The folder of uploads in progress.
  private let uploads: String

  package init(space: PrivateSpace, uploads: String = "") {
    self.space = space
    self.uploads = uploads
  }

  package var identity: String { space.identity }

  package func wipeKeys() { space.wipeKeys() }

  package func makeVault() -> any EncryptedUploadSink { SpaceVault(owner: identity, folder: uploads) }

  package var isReachable: Bool { space.isReachable }

  package func version() throws(StorageError) -> Int { try space.version() }

  package func images() throws(StorageError) -> [SourceImage] {
    let sidecars = try space.sidecarFiles()
    return try space.files().map { file in
      let metadata = sidecars[file.id].map { path in
        SourceImage.SidecarReader(path: path) { [space] in (try? space.sidecar(ofID: file.id)) ?? nil }
      }
      return SourceImage(id: file.id, path: file.path, sidecar: metadata) { [space] () throws(StorageError) in
        do throws(StorageError) {
          if let archive = try space.servedArchive(ofID: file.id) { return archive }
        } catch  where error.kind == .notFound {
          // The index names a file that does not exist: the file was lost, not deleted.
          throw StorageError(error.action, error.reason, kind: .unreadable)
        }
        throw StorageError("open \(file.path)", errno: ENOENT)
      }
    }
  }
}

/// Changes of a space.
extension SpaceSource {
  package func changeSidecar(
    ofID id: ImageID, _ body: ([UInt8]) throws(StorageError) -> [UInt8]?
  ) throws(StorageError) -> Bool {
    try space.changeSidecar(ofID: id, body)
  }

  package func delete(
    _ ids: [ImageID], at time: Int
  ) throws(StorageError) -> (deletion: Deletion?, refused: [ImageID]) {
    try space.delete(ids, at: time)
  }

  package func deletions(since oldest: Int) throws(StorageError) -> [Deletion] {
    try space.deletions(since: oldest)
  }

  package func restore(_ name: String, since oldest: Int) throws(StorageError) -> Deletion.Restoration? {
    try space.restore(name, since: oldest)
  }

  package func purgeDeleted(until oldest: Int) throws(StorageError) { try space.purgeDeleted(until: oldest) }

  package func take(_ id: ImageID, from library: String) throws(StorageError) {
    try EmptyFolders.requireSealable(id, in: library)
    try PictureMove(library: library).seal(id, into: space)
    try EmptyFolders.removeAfterSealing(id, in: library)
  }

  package func give(_ id: ImageID, to library: String) throws(StorageError) {
    try PictureMove(library: library).unseal(id, of: space)
  }

  package func hand(_ id: ImageID, to other: any OpenSpace) throws(StorageError) {
    guard let other = other as? SpaceSource else { preconditionFailure("a library's spaces are of one kind") }
    try PictureMove.reseal(id, of: space, into: other.space)
  }
}

/// A service that opens a library's spaces for visitors who enter a password in the page.
package final class LibrarySpaces: SpaceOpener {
  private let spaces: PrivateSpaces
  private let uploads: String
  private let isKnown: Atomic<Bool>
  /// The reason why a file of the spaces cannot be read, and the time of the next check of all files.
  private let refusal = Mutex((found: String?.none, next: ContinuousClock.now))

  /// - Parameter isAlwaysOffered: whether visitors can try passwords before the library has a space.
  package init(spaces: PrivateSpaces, uploads: String, isAlwaysOffered: Bool) {
    self.spaces = spaces
    self.uploads = uploads
    isKnown = Atomic(isAlwaysOffered)
  }

  /// Whether spaces are offered. After one was found, they are offered until the server ends.
  package var isOffered: Bool {
    if !wasOffered, spaces.isThere { isKnown.store(true, ordering: .relaxed) }
    return wasOffered
  }

  package var wasOffered: Bool { isKnown.load(ordering: .relaxed) }

  package var isReadable: Bool { refusal.withLock { $0.found == nil } }

  /// Checks the files of the spaces. After a refusal each call checks again; readable files, which may be many, are
  /// checked once a minute.
  package func lookForRefusal() -> String? {
    guard refusal.withLock({ $0.found != nil || $0.next <= .now }) else { return nil }
    // Without the lock, because event loops wait for it.
    let found = spaces.readRefusal()
    refusal.withLock { $0 = (found, ContinuousClock.now + .seconds(60)) }
    return found
  }

  package func open(_ password: String) throws(StorageError) -> (any OpenSpace)? {
    do {
      let space = try spaces.open(try Password(password))
      // Removes files that a killed server has left. If nothing can be written, none were left.
      try? space.prepare()
      return SpaceSource(space: space, uploads: uploads)
    } catch {
      switch error {
      case .storage(let error): throw error
      // A text that cannot be a password opens nothing.
      case .noSpaceOpens, .passwordTaken, .unusablePassword: return nil
      }
    }
  }
}

/// The storage of one upload into a space.
final class SpaceVault: EncryptedUploadSink {
  let owner: String
  /// The folder on the disk that contains the bytes.
  private let folder: String
  private let opened = Mutex<SealedSpool?>(nil)

  init(owner: String, folder: String) {
    self.owner = owner
    self.folder = folder
  }

  func open() throws(StorageError) {
    let spool = try SealedSpool(folder: folder)
    opened.withLock { $0 = spool }
  }

  var spool: SealedSpool {
    get throws(StorageError) {
      guard let spool = opened.withLock({ $0 }) else {
        throw StorageError("seal an upload", "it has not begun")
      }
      return spool
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at position: Int) throws(StorageError) {
    try spool.write(bytes, at: position)
  }

  func start(_ count: Int) throws(StorageError) -> [UInt8] { try spool.start(count) }

  func discard() { opened.withLock { $0 }?.discard() }
}
