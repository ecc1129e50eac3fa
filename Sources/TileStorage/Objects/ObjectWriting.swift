/// Changes what is in one bucket, below one prefix. Waits for the store: not for threads that others wait for.
package protocol ObjectWriting: Sendable {
  /// Writes a file as the object of that key, whole or not at all; the store itself compares the digest.
  /// - Parameter sha256: of the file, 32 bytes.
  func put(file: String, sha256: [UInt8], key: String) throws(ObjectFault) -> ObjectPin

  /// Writes bytes as the object of that key.
  func put(bytes: [UInt8], key: String) throws(ObjectFault) -> ObjectPin

  /// Removes the object; one that is not there is removed already.
  func remove(_ key: String) throws(ObjectFault)

  /// Returns the next objects behind a key in the order of their keys' bytes, at most 1,000; none only at the end of the
  /// list. Throws `ObjectFault.damaged` if the store says that there are more and does not list them.
  /// - Parameter key: the bytes of the last key of the page before; nil for the first page.
  func list(after key: [UInt8]?) throws(ObjectFault) -> ObjectPage
}

/// A part of the list of a store's objects.
package struct ObjectPage: Hashable, Sendable {
  /// The objects that can be read: their keys are UTF-8, and their sizes valid.
  package let pins: [ObjectPin]
  /// The keys of the others. Stores take keys that are not UTF-8, although S3 defines them so.
  package let strayKeys: [[UInt8]]
  /// The last key of all, by which the next page is asked for; nil if the page is empty.
  package let lastKey: [UInt8]?
  /// Whether the store says that there are no more behind these; an empty page is always the last one.
  package let isLast: Bool

  package init(_ pins: [ObjectPin], strayKeys: [[UInt8]] = [], lastKey: [UInt8]?, isLast: Bool) {
    self.pins = pins
    self.strayKeys = strayKeys
    self.lastKey = lastKey
    self.isLast = isLast
  }
}
