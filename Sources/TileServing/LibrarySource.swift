public import TileStorage

/// Images that do not lie open in a library's folders.
public protocol LibrarySource: Sendable {
  /// Differs whenever an image was added, replaced or removed.
  func version() throws(StorageError) -> Int

  func images() throws(StorageError) -> [SourceImage]
}

/// One image of a source.
public struct SourceImage: Sendable {
  let id: String
  let path: String
  let open: @Sendable () throws(StorageError) -> SZIArchive

  /// - Parameter path: of the file that is another one when the image was replaced.
  public init(id: String, path: String, open: @escaping @Sendable () throws(StorageError) -> SZIArchive) {
    (self.id, self.path, self.open) = (id, path, open)
  }
}
