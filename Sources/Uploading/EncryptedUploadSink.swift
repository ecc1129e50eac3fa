package import ZigguratFiles

/// The storage of a private upload, sealed until it is an image.
package protocol EncryptedUploadSink: Sendable {
  /// The identity of the owner, which is never shown.
  var owner: String { get }

  /// Makes room for the bytes on a disk. Called once, before the first of them; may block.
  func open() throws(StorageError)

  /// Keeps bytes of the file from `position` on, instead of all that was kept from there on.
  func write(_ bytes: UnsafeRawBufferPointer, at position: Int) throws(StorageError)

  /// The file's first bytes, `count` of them at most.
  func start(_ count: Int) throws(StorageError) -> [UInt8]

  /// Nothing can be read any more.
  func discard()
}
