package import ZigguratFiles

/// An image that could not be built, remembered so that later builds do not try the same file again.
package struct FailureRecord: Hashable, Sendable {
  package let id: ImageID
  /// The path or address of the source.
  package let path: String
  /// Differs whenever the file changes; empty if a change might go unnoticed.
  package var version: String
  /// The digest of the source's content; empty if it could not be read.
  package let digest: String
  /// Identifies the program and the options that failed.
  package let builder: String
  package let reason: String
  /// Seconds since 1970.
  package let time: Int

  package init(
    id: ImageID, path: String, version: String, digest: String, builder: String, reason: String, time: Int
  ) {
    self.id = id
    self.path = path
    self.version = version
    self.digest = digest
    self.builder = builder
    self.reason = reason
    self.time = time
  }
}
