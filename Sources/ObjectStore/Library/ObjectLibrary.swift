import Foundation
import Glibc
import Synchronization
package import TileGeometry
package import TileStorage
package import ZigguratFiles

/// A library in an object store for reading: its index, and its archives on demand.
package final class ObjectLibrary: Sendable {
  package let address: ObjectAddress
  package let client: ObjectClient
  package let memory: TileCache
  private let settings: ObjectSettings
  private let directory: LibraryIndex
  private let strays: StrayObjects
  private let outages = Mutex(Outage())

  /// A period in which the index could not be read.
  private struct Outage {
    /// The start of the first failed attempt since the last success; nil if the last attempt succeeded.
    var start: ContinuousClock.Instant?
    /// The time of the last attempt.
    var attempt = ContinuousClock.Instant.now
    var reason = "the store does not answer"
  }

  /// An image, and the identity of its version.
  package struct Image: Sendable {
    package let id: ImageID
    package let image: LazyArchive
    package let identity: FileIdentity
    /// The key of the archive's object.
    package let key: String
    /// The SHA-256 of the archive.
    let digest: [UInt8]

    /// The SHA-256 in hexadecimal.
    package var digestText: String { SHA256.hexadecimal(digest) }
  }

  /// Whether a text is the address of an object store, valid or not.
  package static func isMeant(by text: String) -> Bool {
    // An address with a typing error is not a folder, either.
    text.prefix(4).lowercased() == "s3:/"
  }

  /// Returns the library at an address, with the settings of the AWS tools.
  /// - Parameters:
  ///   - memoryLimit: the maximum size of the cached tiles of all images together, in bytes.
  ///   - limits: the limits of each request for the index.
  ///   - report: called with lines about stray objects in the store.
  /// - Returns: nil if the text is not the address of an object store, but, for example, the path of a folder.
  package static func named(
    _ text: String, memoryLimit: Int = 64 << 20, limits: RequestLimits = .builder,
    report: @escaping @Sendable (String) -> Void
  ) throws(StorageError) -> ObjectLibrary? {
    guard isMeant(by: text) else { return nil }
    guard let address = ObjectAddress(text) else {
      throw StorageError(
        "open the library \(text)",
        "it is not s3://BUCKET or s3://BUCKET/PREFIX: a bucket is 3 to 63 of a-z, 0-9, - and .; a prefix has A-Z, _ and ~, too"
      )
    }
    return try ObjectLibrary(
      address, ObjectSettings(), memoryLimit: memoryLimit, limits: limits, report: report)
  }

  init(
    _ address: ObjectAddress, _ settings: ObjectSettings, memoryLimit: Int = 64 << 20, limits: RequestLimits,
    report: @escaping @Sendable (String) -> Void
  ) throws(StorageError) {
    guard let client = ObjectClient(address, settings) else {
      throw StorageError("open the library \(address)", "there is no memory for it", kind: .unreachable)
    }
    self.address = address
    self.settings = settings
    self.client = client
    strays = StrayObjects(report: report)
    memory = TileCache(limit: memoryLimit)
    directory = LibraryIndex(address, settings, reading: client, limits: limits, strays: strays)
  }

  /// The number of objects in the library's folders that Ziggurat did not write.
  package var strayCount: Int { strays.count }

  /// The duration and the reason of an outage of the index; nil if it can be read, or if no reader tries any more.
  package var outage: (time: Duration, reason: String)? {
    outages.withLock { outage in
      guard let start = outage.start, .now - outage.attempt < .seconds(60) else { return nil }
      return (.now - start, outage.reason)
    }
  }

  /// Reads the index, and notes whether that was possible.
  private func noting<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    let now = ContinuousClock.now
    outages.withLock { outage in
      outage.start = outage.start ?? now
      outage.attempt = now
    }
    do throws(StorageError) {
      let result = try body()
      outages.withLock { $0 = Outage() }
      return result
    } catch {
      outages.withLock { ($0.attempt, $0.reason) = (.now, error.reason) }
      throw error
    }
  }

  /// Reads the lines that builders have added. Waits for the store.
  /// - Returns: a number that differs after every change.
  package func refresh() throws(StorageError) -> Int {
    try noting { () throws(StorageError) in try directory.refresh() }
  }

  /// Writes the index as one segment.
  package func compact() throws(StorageError) { try directory.compact() }

  /// Returns the images that the last `refresh` has found, in no particular order.
  package func images() -> [Image] { directory.current.records.map(image) }

  private func image(_ id: ImageID, _ record: ListedRecord) -> Image {
    let (image, key) = image(
      id, digest: SHA256.hexadecimal(record.digest), etag: record.etag, byteCount: record.byteCount,
      pyramid: record.pyramid, format: record.format, generation: record.generation, entry: record.entry)
    return Image(
      id: id, image: image,
      identity: FileIdentity(inode: record.generation, size: record.byteCount, modifiedNanoseconds: 0),
      key: key, digest: record.digest)
  }

  /// Changes that builders have written since the caller's last call.
  package struct News: Sendable {
    package var images: [Image] = []
    /// Images that no longer exist.
    package var gone: [ImageID] = []
    /// The keys of all current segments of the index.
    package let parts: Set<String>
    /// Whether these are all images, and replace what was known before.
    package let isWhole: Bool
  }

  /// Returns the changes since some segments of the index; nil if there are none. Waits for the store, and remembers
  /// nothing.
  package func news(since parts: Set<String>) throws(StorageError) -> News? {
    guard let news = try noting({ () throws(StorageError) in try directory.news(since: parts) }) else {
      return nil
    }
    var contents = LibraryIndex.Contents()
    contents.apply(news.lines)
    var result = News(parts: news.parts, isWhole: news.isWhole)
    result.images = contents.records.map(image)
    var gone: Set<ImageID> = []
    for case .gone(let id) in news.lines where contents.records[id] == nil { gone.insert(id) }
    result.gone = gone.sorted()
    return result
  }

  /// Returns the image of a stored record of its archive.
  /// - Parameter digest: the SHA-256 of the archive, 64 hexadecimal digits.
  package func image(
    _ id: ImageID, digest: String, etag: String, byteCount: Int, pyramid: Pyramid, format: TileFormat,
    generation: UInt64, entry: @escaping @Sendable (_ relativeName: String) -> [UInt8]?
  ) -> (image: LazyArchive, key: String) {
    let key = ListedRecord.key(digest, below: address.prefix)
    let listed = ArchiveDescriptor(
      version: ObjectVersion(key: key, etag: etag, byteCount: byteCount), name: id.name, pyramid: pyramid,
      format: format, generation: generation, entries: entry)
    return (LazyArchive(listed, from: client, memory), key)
  }

  /// Adds the archives of these images to the index, for all readers. Waits for the store.
  /// - Parameter images: the images, each with the SHA-256 of its archive, 64 hexadecimal digits.
  package func announce(_ images: [(id: ImageID, image: LazyArchive, digest: String)]) throws(StorageError) {
    try directory.append(
      images.compactMap { id, image, digest in
        guard let digest = IndexEntry.digest(digest) else { return nil }
        let listed = image.listed
        let record = ListedRecord(
          digest: digest, etag: listed.version.etag, byteCount: listed.version.byteCount,
          generation: listed.generation, pyramid: listed.pyramid, format: listed.format)
        let line = IndexEntry.text(
          image: id, record, build: listed.entries(BuildRecord.entryName) ?? [],
          metadata: listed.entries(ImageMetadata.entryName) ?? [])
        // A line that cannot be parsed would make all others unreadable.
        return IndexEntry.isReadable(line) ? line : nil
      })
  }

  /// The result of a garbage collection of archives that no image uses.
  package struct GarbageCollectionResult: Sendable {
    /// The number of archives that a later run may remove.
    package internal(set) var marked = 0
    package internal(set) var removed = 0
    /// The total size of the removed archives.
    package internal(set) var bytes = 0
  }

  /// Removes archives that no image has used for two days, according to earlier runs.
  package func sweep() throws(StorageError) -> GarbageCollectionResult {
    try GarbageCollector(
      address: address, settings: settings, reading: client, directory: directory, strays: strays
    )
    .run(now: Int(time(nil)), wait: 48 * 3600)
  }

  /// Returns a writer for building the library.
  package func store() -> S3LibraryWriter {
    let folder = NSTemporaryDirectory()
    let scratch = (folder.hasSuffix("/") ? folder : folder + "/") + "ziggurat-\(geteuid())"
    return S3LibraryWriter(address, settings, directory, reading: client, scratch: scratch)
  }

  /// Returns a writer for a server with a shared catalog, which knows the images from there.
  /// - Parameter scratch: a folder of the server's own, for archives that are not sent yet.
  package func storeOfUploads(scratch: String) -> S3LibraryWriter {
    S3LibraryWriter(address, settings, directory, reading: client, scratch: scratch, knowsAll: false)
  }
}
