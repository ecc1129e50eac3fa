package import Files
import Foundation
import Glibc
import Synchronization
package import TileStorage

/// A library in an object store, for who reads it: its directory, and its archives as they are asked for.
package final class ObjectLibrary: Sendable {
  package let address: ObjectAddress
  package let client: ObjectClient
  package let memory: ObjectMemory
  private let settings: ObjectSettings
  private let directory: ObjectDirectory

  /// An image, and what tells its version from others.
  package struct Image: Sendable {
    package let id: ImageID
    package let image: ListedImage
    package let identity: FileIdentity
    /// Of the archive's object.
    package let key: String
    /// The SHA-256 of all of that.
    let digest: [UInt8]
  }

  /// Whether the text means an object store, be it a sound address or not.
  package static func isMeant(by text: String) -> Bool { text.hasPrefix(ObjectAddress.scheme) }

  /// - Parameters:
  ///   - memoryLimit: bytes of tiles that are kept of all images together.
  ///   - tries: of each question about the directory, for who can ask again.
  /// - Returns: nil where the text is no address of an object store, as a folder's path is none.
  package static func named(
    _ text: String, memoryLimit: Int = 64 << 20, tries: Int = 5
  ) throws(StorageError) -> ObjectLibrary? {
    guard isMeant(by: text) else { return nil }
    guard let address = ObjectAddress(text) else {
      throw StorageError(
        "open the library \(text)",
        "it is not s3://BUCKET or s3://BUCKET/PREFIX: a bucket is 3 to 63 of a-z, 0-9, - and .; a prefix has A-Z, _ and ~, too"
      )
    }
    let settings = try ObjectSettings()
    guard let client = ObjectClient(address, settings) else {
      throw StorageError("open the library \(text)", "there is no memory for it", kind: .unreachable)
    }
    return ObjectLibrary(address, settings, client, memoryLimit, tries)
  }

  private init(
    _ address: ObjectAddress, _ settings: ObjectSettings, _ client: ObjectClient, _ memoryLimit: Int,
    _ tries: Int
  ) {
    (self.address, self.settings, self.client) = (address, settings, client)
    memory = ObjectMemory(limit: memoryLimit)
    directory = ObjectDirectory(address, settings, reading: client, tries: tries)
  }

  /// Reads what builders wrote since; waits for the store.
  /// - Returns: a number that differs with every change.
  package func refresh() throws(StorageError) -> Int { try directory.refresh() }

  /// Writes the directory in one piece.
  package func compact() throws(StorageError) { try directory.compact() }

  /// As the last `refresh` has found them, in no order.
  package func images() -> [Image] {
    directory.current.records.map { id, record in
      let key = ListedRecord.key(record.digest, below: address.prefix)
      let listed = ListedArchive(
        pin: ObjectPin(key: key, etag: record.etag, byteCount: record.byteCount), name: id.name,
        pyramid: record.pyramid, format: record.format, generation: record.generation, entries: record.entry)
      return Image(
        id: id, image: ListedImage(listed, from: client, memory),
        identity: FileIdentity(
          inode: record.generation, size: record.byteCount, modifiedNanoseconds: 0), key: key,
        digest: record.digest)
    }
  }

  /// For who builds it.
  package func store() -> BucketStore {
    let folder = NSTemporaryDirectory()
    let scratch = (folder.hasSuffix("/") ? folder : folder + "/") + "ziggurat-\(geteuid())"
    return BucketStore(address, settings, directory, scratch: scratch)
  }
}
