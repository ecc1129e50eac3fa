package import Files
import TileStorage
package import Uploading

/// Opens private spaces by their passwords.
package protocol SpaceOpener: Sendable {
  /// Takes half a second and a quarter of a gigabyte, the same whether a space opens or not.
  /// - Parameter password: UTF-8.
  /// - Returns: nil where no space opens, for whatever reason.
  func open(_ password: String) throws(StorageError) -> (any OpenSpace)?
}

/// A private space whose keys are in memory.
package protocol OpenSpace: LibrarySource {
  /// The same for every opening of the same space, and no other's.
  var identity: String { get }

  /// Nothing can be read or written any more.
  func wipeKeys()

  /// For the bytes of one upload on their way into the space.
  func makeVault() throws(StorageError) -> any UploadVault

  /// Replaces an image's XMP sidecar by what `body` makes of it, which is empty where there is none; nil leaves
  /// it. Nobody else changes the space meanwhile.
  /// - Returns: false where there is no such image.
  func changeSidecar(
    ofID id: String, _ body: ([UInt8]) throws(StorageError) -> [UInt8]?
  ) throws(StorageError) -> Bool

  /// - Parameter time: seconds since 1970.
  /// - Returns: nil where nothing was deleted; and the ids that are no image.
  func delete(
    _ ids: [String], at time: Int
  ) throws(StorageError) -> (deletion: DeletedImages?, refused: [String])

  /// What was deleted after `oldest` and can come back, the last first.
  func deletions(since oldest: Int) throws(StorageError) -> [DeletedImages]

  /// - Returns: nil where there is no such deletion.
  func restore(
    _ name: String, since oldest: Int
  ) throws(StorageError) -> (restored: [String], taken: [String])?

  /// Seals an image of a library's folder and its sidecar, and deletes them there.
  func take(_ id: String, from library: String) throws(StorageError)

  /// Writes an image and its sidecar into a library's folder, and deletes them here.
  func give(_ id: String, to library: String) throws(StorageError)

  func hand(_ id: String, to other: any OpenSpace) throws(StorageError)

  /// Removes for good what was deleted until then.
  func purgeDeleted(until oldest: Int) throws(StorageError)
}

/// Images that were deleted from a space together.
package struct DeletedImages: Sendable {
  package let name: String
  package let images: [String]
  /// Seconds since 1970.
  package let time: Int

  package init(name: String, images: [String], time: Int) {
    (self.name, self.images, self.time) = (name, images, time)
  }
}

/// An unlocked space as the server answers from it: for the sessions that have unlocked it, and nobody else.
///
/// In URLs its images' ids stand behind `~/`, so that no public URL ever means a private image.
package final class SpaceLibrary: Sendable {
  package let library: Library
  package let space: any OpenSpace

  /// In front of ids: what a URL must have for a private image to be looked for at all.
  package static let prefix: StaticString = "~/"

  package init(_ space: any OpenSpace, openLimit: Int = 128) throws(StorageError) {
    self.space = space
    library = try Library(space, name: "private space", openLimit: openLimit)
  }

  /// Keeps up with what is built into the space.
  package func refresh() {
    // What fails now is tried again the next time.
    if library.refresh() { _ = try? library.updateCatalog() }
  }

  /// As `Library.image(madeFrom:)`.
  package func image(madeFrom digest: String) throws(StorageError) -> String? {
    try library.image(madeFrom: digest)
  }
}
