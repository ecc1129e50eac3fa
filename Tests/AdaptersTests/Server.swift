import Glibc
import TileStorage
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratMetadata

/// A repository, and the changes that visitors of a server make in it.
struct Server: Sendable {
  /// The storage of the images, which ends with its last server.
  let storage: any Storage
  typealias Edit =
    @Sendable (ImageID, MetadataEdit, () throws(MetadataUnavailable) -> Bool) throws(StorageError) ->
    LibraryEditor.Outcome

  let repository: any ImageRepository
  let trash: Trash
  let edit: Edit

  init(_ repository: any ImageRepository, of storage: any Storage) {
    self.repository = repository
    self.storage = storage
    trash = Trash(repository, keeps: 3600)
    let editor = LibraryEditor(repository)
    edit = { (id, edit, isCurrent) throws(StorageError) in try editor.edit(id, edit, if: isCurrent) }
  }

  init(_ space: SpaceLibrary, of storage: any Storage) {
    repository = space.library
    self.storage = storage
    trash = Trash(space, keeps: 3600)
    edit = { (id, edit, isCurrent) throws(StorageError) in try space.edit(id, edit, if: isCurrent) }
  }

  /// Takes in what has changed, as a server does every second.
  func update() throws(StorageError) {
    _ = repository.refresh()
    try repository.updateCatalog()
  }

  /// Returns the archive of an image, after the wait of a request.
  /// - Parameter generation: the version that a URL names.
  func archive(_ id: ImageID, generation: UInt64? = nil) throws(StorageError) -> TileArchive? {
    repository.lookup(of: [id], generation: generation)?.wait()
    return try repository.archive(id, generation: generation)
  }

  func content(_ id: ImageID, generation: UInt64? = nil) -> VersionedImage.Content {
    do throws(StorageError) {
      guard let archive = try archive(id, generation: generation) else { return .missing }
      return VersionedImage.content(id, of: archive)
    } catch { return VersionedImage.Content(error) }
  }

  func title(_ id: ImageID) throws(StorageError) -> String? {
    repository.lookup(of: [id])?.wait()
    return try repository.catalogEntry(id)?.entry.metadata.title
  }

  /// Changes the title of an image.
  /// - Parameter isCurrent: called while no other process may write.
  func edit(
    _ id: ImageID, title: String, if isCurrent: () throws(MetadataUnavailable) -> Bool = { true }
  ) throws(StorageError) -> LibraryEditor.Outcome {
    // The titles of tests need no escapes.
    let change = try! MetadataEdit(json: Array("{\"title\": \"\(title)\"}".utf8))
    // A client repeats an edit that is answered 503. On a busy machine the timeouts of the database are reached.
    for _ in 0..<100 {
      do throws(StorageError) { return try edit(id, change, isCurrent) } catch {
        guard error.isTemporary else { throw error }
        usleep(100_000)
      }
    }
    return try edit(id, change, isCurrent)
  }

  /// Returns all pages of the list.
  func listed(limit: Int = 3) throws(StorageError) -> [(id: ImageID, title: String?)] {
    var (found, cursor): ([(id: ImageID, title: String?)], String?) = ([], nil)
    repeat {
      let page = try repository.list(LibrarySelection(), after: cursor, limit: limit)
      found += page.entries.map { ($0.id, $0.metadata.title) }
      cursor = page.entries.count <= limit && found.count <= 1000 ? page.next : nil
    } while cursor != nil
    return found
  }

  func ids(limit: Int = 3) throws(StorageError) -> [ImageID] { try listed(limit: limit).map(\.id) }
}
