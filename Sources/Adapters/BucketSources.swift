package import PyramidBuilding
package import ZigguratFiles
package import ZigguratObjectStore

/// The sources of a build in buckets of an S3 store.
package struct BucketSources: RemoteSources {
  private let files: StoredFiles

  package init(_ files: StoredFiles) { self.files = files }

  package func isMeant(by argument: String) -> Bool { ObjectLibrary.isMeant(by: argument) }

  package func list(_ address: String) throws(StorageError) -> [RemoteFile] {
    try files.list(address).map { RemoteFile(path: $0.path, etag: $0.etag, bytes: $0.byteCount) }
  }

  package func copy(_ file: RemoteFile, _ isCancelled: () -> Bool) throws(StorageError) -> TemporaryFile? {
    try files.copy(StoredFiles.File(path: file.path, etag: file.etag, byteCount: file.bytes), isCancelled)
  }
}
