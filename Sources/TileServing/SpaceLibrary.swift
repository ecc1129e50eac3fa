public import TileStorage
public import Uploading

/// Opens private spaces by their passwords.
public protocol SpaceOpener: Sendable {
  /// Takes half a second and a quarter of a gigabyte, the same whether a space opens or not.
  /// - Parameter password: UTF-8.
  /// - Returns: nil where no space opens, for whatever reason.
  func open(_ password: String) throws(StorageError) -> (any OpenSpace)?
}

/// A private space whose keys are in memory.
public protocol OpenSpace: LibrarySource {
  /// The same for every opening of the same space, and no other's.
  var identity: String { get }

  /// Nothing can be read or written any more.
  func wipeKeys()

  /// For the bytes of one upload on their way into the space.
  func makeVault() throws(StorageError) -> any UploadVault
}

/// An unlocked space as the server answers from it: for the sessions that have unlocked it, and nobody else.
///
/// In URLs its images' ids stand behind `~/`, so that no public URL ever means a private image.
public final class SpaceLibrary: Sendable {
  let library: Library
  public let space: any OpenSpace

  /// In front of ids: what a URL must have for a private image to be looked for at all.
  static let prefix: StaticString = "~/"

  init(_ space: any OpenSpace, openLimit: Int = 128) throws(StorageError) {
    self.space = space
    library = try Library(space, name: "private space", openLimit: openLimit)
  }

  /// Keeps up with what is built into the space.
  public func refresh() {
    // What fails now is tried again the next time.
    if library.refresh() { _ = try? library.updateCatalog() }
  }

  /// As `Library.image(madeFrom:)`.
  public func image(madeFrom digest: String) throws(StorageError) -> String? {
    try library.image(madeFrom: digest)
  }
}
