/// A writer of objects in one bucket, below one prefix. It blocks for the store: not for threads on which others
/// depend.
package protocol ObjectWriting: Sendable {
  /// Writes a file as the object of that key, whole or not at all. The store itself compares the digest.
  /// - Parameter sha256: the digest of the file, 32 bytes.
  func put(file: String, sha256: [UInt8], key: String) throws(ObjectError) -> ObjectVersion

  /// Writes bytes as the object of that key.
  func put(bytes: [UInt8], key: String) throws(ObjectError) -> ObjectVersion

  /// Removes the object; a missing one is not an error.
  func remove(_ key: String) throws(ObjectError)

  /// Returns the next objects behind a key, in the order of their keys' bytes, at most 1,000. The page is empty only at
  /// the end of the list. Throws `ObjectError.damaged` if the store reports more objects and does not list them.
  /// - Parameter key: the bytes of the last key of the page before; nil for the first page.
  func list(after key: [UInt8]?) throws(ObjectError) -> ObjectPage
}

/// A part of the list of a store's objects.
package struct ObjectPage: Hashable, Sendable {
  /// The versions of readable objects: their keys are UTF-8, and their sizes valid.
  package let versions: [ObjectVersion]
  /// The keys of the others. Stores accept keys that are not UTF-8, although S3 requires UTF-8.
  package let strayKeys: [[UInt8]]
  /// The last key of all, which requests the next page; nil if the page is empty.
  package let lastKey: [UInt8]?
  /// Whether the store reports no further objects; an empty page is always the last one.
  package let isLast: Bool

  package init(_ versions: [ObjectVersion], strayKeys: [[UInt8]] = [], lastKey: [UInt8]?, isLast: Bool) {
    self.versions = versions
    self.strayKeys = strayKeys
    self.lastKey = lastKey
    self.isLast = isLast
  }
}
