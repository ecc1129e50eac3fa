package import ZigguratFiles

/// The storage of a private upload, encrypted until it is an image.
package protocol EncryptedUploadSink: Sendable {
  /// The identity of the owner, which is never shown.
  var owner: String { get }

  /// Reserves storage on a disk. Called once, before the first bytes are written; may block.
  func open() throws(StorageError)

  /// Stores bytes of the file from `position` on, and replaces everything from there on.
  func write(_ bytes: UnsafeRawBufferPointer, at position: Int) throws(StorageError)

  /// Returns the first bytes of the file, at most `count`.
  func start(_ count: Int) throws(StorageError) -> [UInt8]

  /// Discards the file. Afterwards nothing can be read.
  func discard()
}
