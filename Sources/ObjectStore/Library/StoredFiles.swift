import Foundation
import Synchronization
import TileStorage
package import ZigguratFiles

/// Files of any name in buckets of an S3 store, which can be listed and copied to this machine.
package final class StoredFiles: Sendable {
  /// A file as it was listed.
  package struct File: Sendable {
    /// `s3://bucket/key`, without encoding.
    package let path: String
    package let etag: String
    /// -1 if the store lists an invalid size.
    package let byteCount: Int

    package init(path: String, etag: String, byteCount: Int) {
      self.path = path
      self.etag = etag
      self.byteCount = byteCount
    }
  }

  private let settings: ObjectSettings
  private let clients = Mutex<[BucketName: ObjectClient]>([:])
  private let tries = RetryPolicy(count: 5)

  /// Reads the settings from the environment and the files of the AWS tools.
  package init() throws(StorageError) { settings = try ObjectSettings() }

  /// Returns the file at an address, or all files below it, in the order of their keys' bytes.
  ///
  /// Keys that a URL cannot request (`a//b`, `a/../b`) and markers of folders (`a/`) are left out.
  package func list(_ address: String) throws(StorageError) -> [File] {
    let action = "list \(address)"
    guard let (bucket, key) = Self.parts(address) else {
      throw StorageError(action, "it is not s3://BUCKET or s3://BUCKET/KEY")
    }
    var unreadable: [String] = []
    func objects(_ prefix: String) -> ObjectWriter {
      ObjectWriter(ObjectAddress(bucket: bucket, prefix: prefix), settings)
    }
    var versions: [ObjectVersion] = []
    do throws(ObjectError) {
      if !key.isEmpty, !address.hasSuffix("/") {
        // The object with exactly this key comes before all others with this prefix.
        versions = try objects(key).list(after: nil).versions.filter { $0.key.utf8.elementsEqual(key.utf8) }
      }
      if versions.isEmpty {
        versions = try objects(key.isEmpty ? "" : key + "/").all(atMost: 20_000_000) { key in
          if let key = String(validating: key, as: UTF8.self), ObjectAddress.isReadable(key) {
            unreadable.append(key)
          }
        }
      }
    } catch { throw error.ofBucket(action) }
    func path(_ key: String) -> String { "\(ObjectAddress.scheme)\(bucket.text)/\(key)" }
    return versions.filter { ObjectAddress.isReadable($0.key) }.map { version in
      File(path: path(version.key), etag: version.etag, byteCount: version.byteCount)
    } + unreadable.map { File(path: path($0), etag: "", byteCount: -1) }
  }

  /// Copies a whole file into a temporary file; nil if that was cancelled.
  /// - Parameter isCancelled: called for each piece.
  package func copy(
    _ file: File, _ isCancelled: () -> Bool
  ) throws(StorageError) -> TemporaryFile? {
    let action = "read \(file.path)"
    guard let (bucket, key) = Self.parts(file.path), ObjectAddress.isReadable(key), file.byteCount >= 0,
      ResponseHead.isTag(file.etag)
    else {
      throw StorageError(action, "it is not s3://BUCKET/KEY with a version")
    }
    let client = try client(of: bucket, action)
    let copy = try TemporaryFile()
    var failure: StorageError?
    let isWhole: Bool
    do throws(ObjectError) {
      let version = ObjectVersion(key: key, etag: file.etag, byteCount: file.byteCount)
      isWhole = try client.readWhole(version, tries) { bytes in
        if isCancelled() { return false }
        do throws(StorageError) { try copy.write(bytes) } catch {
          failure = error
          return false
        }
        return true
      }
    } catch {
      let isOther = error == .missing || error == .otherVersion
      throw StorageError(
        action, isOther ? "has changed since it was listed" : error.description,
        kind: isOther ? .unreadable : error.kind)
    }
    if let failure { throw failure.during(action) }
    return isWhole ? copy : nil
  }

  private func client(of bucket: BucketName, _ action: String) throws(StorageError) -> ObjectClient {
    let client = clients.withLock { clients in
      if let known = clients[bucket] { return known as ObjectClient? }
      clients[bucket] = ObjectClient(ObjectAddress(bucket: bucket, prefix: ""), settings)
      return clients[bucket]
    }
    guard let client else { throw StorageError(action, "there is no memory for it", kind: .unreachable) }
    return client
  }

  /// Returns the bucket and the key, without slashes at its end.
  private static func parts(_ address: String) -> (bucket: BucketName, key: String)? {
    guard address.utf8.starts(with: ObjectAddress.scheme.utf8) else { return nil }
    let slash = UInt8(ascii: "/")
    // By bytes: as a character, a slash may combine with an accent after it.
    let parts = Array(address.utf8.dropFirst(ObjectAddress.scheme.utf8.count))
      .split(separator: slash, maxSplits: 1, omittingEmptySubsequences: false)
    guard let bucket = BucketName(String(decoding: parts[0], as: UTF8.self)) else { return nil }
    var key = parts.count > 1 ? parts[1] : []
    while key.last == slash { key.removeLast() }
    return (bucket, String(decoding: key, as: UTF8.self))
  }
}

extension ObjectWriting {
  /// Returns all objects in the order of their keys' bytes.
  /// - Parameters:
  ///   - most: the maximum number of objects. A store that lists more may never come to an end.
  ///   - stray: called with each key of `ObjectPage.strayKeys`.
  func all(
    atMost most: Int, stray: ([UInt8]) -> Void = { _ in }
  ) throws(ObjectError) -> [ObjectVersion] {
    var (versions, last, count): ([ObjectVersion], [UInt8]?, Int) = ([], nil, 0)
    while true {
      let page = try list(after: last)
      guard let end = page.lastKey else { return versions }
      guard count < most else { throw .damaged }
      versions += page.versions
      page.strayKeys.forEach(stray)
      count += page.versions.count + page.strayKeys.count
      if page.isLast { return versions }
      last = end
    }
  }
}
