package import Files
package import TileStorage

/// Images that do not lie open in a library's folders.
package protocol LibrarySource: Sendable {
  /// Differs whenever an image was added, replaced or removed.
  func version() throws(StorageError) -> Int

  func images() throws(StorageError) -> [SourceImage]
}

/// One image of a source.
package struct SourceImage: Sendable {
  package let id: ImageID
  package let path: String
  package let open: @Sendable () throws(StorageError) -> TileArchive
  package let sidecar: Words?

  /// What somebody wrote about the image.
  package struct Words: Sendable {
    let path: String
    let read: @Sendable () -> [UInt8]?

    /// - Parameters:
    ///   - path: of the file that is another one when they have changed.
    ///   - read: the XMP; nil where it cannot be read.
    package init(path: String, read: @escaping @Sendable () -> [UInt8]?) {
      (self.path, self.read) = (path, read)
    }
  }

  /// - Parameter path: of the file that is another one when the image was replaced.
  package init(
    id: ImageID, path: String, sidecar: Words? = nil,
    open: @escaping @Sendable () throws(StorageError) -> TileArchive
  ) {
    (self.id, self.path, self.sidecar, self.open) = (id, path, sidecar, open)
  }
}
