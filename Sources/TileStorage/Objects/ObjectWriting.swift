/// Changes what is in one bucket, below one prefix. Waits for the store: not for threads that others wait for.
package protocol ObjectWriting: Sendable {
  /// Writes a file as the object of that key, whole or not at all; the store itself compares the digest.
  /// - Parameter sha256: of the file, 32 bytes.
  func put(file: String, sha256: [UInt8], key: String) throws(ObjectFault) -> ObjectPin

  /// Writes bytes as the object of that key.
  func put(bytes: [UInt8], key: String) throws(ObjectFault) -> ObjectPin

  /// Removes the object; one that is not there is removed already.
  func remove(_ key: String) throws(ObjectFault)

  /// The next objects behind that key in the order of their keys' bytes, at most 1,000.
  /// - Parameter key: the first ones where nil.
  func list(after key: String?) throws(ObjectFault) -> ObjectPage
}

/// A part of the list of a store's objects.
package struct ObjectPage: Hashable, Sendable {
  package let pins: [ObjectPin]
  /// Whether the store says that there are no more behind these; without objects there are none in any case.
  package let isLast: Bool

  package init(_ pins: [ObjectPin], isLast: Bool) { (self.pins, self.isLast) = (pins, isLast) }
}
