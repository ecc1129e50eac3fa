import TileStorage
package import ZigguratFiles
package import ZigguratUploading

/// Opens private spaces by their passwords.
package protocol SpaceOpener: Sendable {
  /// Whether visitors may unlock spaces: looks whether the library has any by now.
  var isOffered: Bool { get }

  /// The same as of the last look.
  var wasOffered: Bool { get }

  /// Looks whether the spaces' files can be read. A server calls it about once a second.
  /// - Returns: why one of them cannot be read; `nil` if all can.
  func lookForRefusal() -> String?

  /// Whether the spaces' files could be read when they were last looked at.
  var isReadable: Bool { get }

  /// Takes half a second and a quarter of a gigabyte, the same whether a space opens or not.
  /// - Parameter password: UTF-8.
  /// - Returns: nil where no space opens, for whatever reason.
  func open(_ password: String) throws(StorageError) -> (any OpenSpace)?
}

/// A private space whose keys are in memory.
package protocol OpenSpace: LibrarySource, TrashStore {
  /// The same for every opening of the same space, and no other's.
  var identity: String { get }

  /// Nothing can be read or written any more.
  func wipeKeys()

  /// Returns a vault for the bytes of one upload on their way into the space. Touches no disk.
  func makeVault() -> any EncryptedUploadSink

  /// Replaces an image's XMP sidecar by what `body` makes of it, which is empty where there is none; nil leaves
  /// it. Nobody else changes the space meanwhile.
  /// - Returns: false where there is no such image.
  func changeSidecar(
    ofID id: ImageID, _ body: ([UInt8]) throws(StorageError) -> [UInt8]?
  ) throws(StorageError) -> Bool

  /// Seals an image of a library's folder and its sidecar, and deletes them there.
  func take(_ id: ImageID, from library: String) throws(StorageError)

  /// Writes an image and its sidecar into a library's folder, and deletes them here.
  func give(_ id: ImageID, to library: String) throws(StorageError)

  func hand(_ id: ImageID, to other: any OpenSpace) throws(StorageError)
}

/// An unlocked space as the server answers from it: for the sessions that have unlocked it, and nobody else.
///
/// Clients name its images by an `ImageReference`.
package final class SpaceLibrary: Sendable {
  package let library: ListRepository
  package let space: any OpenSpace

  package init(_ space: any OpenSpace, openLimit: Int = 128) throws(StorageError) {
    self.space = space
    library = try ListRepository(space, name: "private space", openLimit: openLimit)
  }

  /// Keeps up with what is built into the space.
  package func refresh() {
    // What fails now is tried again the next time.
    if library.refresh() { _ = try? library.updateCatalog() }
  }
}
