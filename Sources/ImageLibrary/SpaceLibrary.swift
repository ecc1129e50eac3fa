import TileStorage
package import ZigguratFiles
package import ZigguratUploading

/// A service that opens private spaces by their passwords.
package protocol SpaceOpener: Sendable {
  /// Whether visitors can unlock spaces. Checks whether the library has any at present.
  var isOffered: Bool { get }

  /// The result of the last check.
  var wasOffered: Bool { get }

  /// Checks whether the files of the spaces can be read. A server calls it about once a second.
  /// - Returns: the reason why one of them cannot be read; `nil` if all can.
  func lookForRefusal() -> String?

  /// Whether the files of the spaces could be read at the last check.
  var isReadable: Bool { get }

  /// Opens a space. Takes half a second and a quarter of a gigabyte, whether a space opens or not.
  /// - Parameter password: the password in UTF-8.
  /// - Returns: nil if no space opens, for any reason.
  func open(_ password: String) throws(StorageError) -> (any OpenSpace)?
}

/// A private space whose keys are in memory.
package protocol OpenSpace: LibrarySource, TrashStore {
  /// An identifier that is the same for every opening of the space, and differs from that of every other space.
  var identity: String { get }

  /// Wipes the keys. Afterwards nothing can be read or written.
  func wipeKeys()

  /// Returns a sink that encrypts the bytes of one upload into the space. The call does not touch the disk.
  func makeVault() -> any EncryptedUploadSink

  /// Replaces the XMP sidecar of an image by the result of `body`, which gets the old one, empty if there is none. Nil
  /// keeps the old one. No other change of the space takes place meanwhile.
  /// - Returns: false if there is no such image.
  func changeSidecar(
    ofID id: ImageID, _ body: ([UInt8]) throws(StorageError) -> [UInt8]?
  ) throws(StorageError) -> Bool

  /// Encrypts an image of a library's folder and its sidecar, and deletes them there.
  func take(_ id: ImageID, from library: String) throws(StorageError)

  /// Writes an image and its sidecar into a library's folder, and deletes them here.
  func give(_ id: ImageID, to library: String) throws(StorageError)

  func hand(_ id: ImageID, to other: any OpenSpace) throws(StorageError)
}

/// An unlocked space as a library of the server, only for the sessions that have unlocked it.
///
/// Clients name its images by an `ImageReference`.
package final class SpaceLibrary: Sendable {
  package let library: ListRepository
  package let space: any OpenSpace

  package init(_ space: any OpenSpace, openLimit: Int = 128) throws(StorageError) {
    self.space = space
    library = try ListRepository(space, name: "private space", openLimit: openLimit)
  }

  /// Updates the list of images after changes of the space.
  package func refresh() {
    // A failed update is tried again the next time.
    if library.refresh() { _ = try? library.updateCatalog() }
  }
}
