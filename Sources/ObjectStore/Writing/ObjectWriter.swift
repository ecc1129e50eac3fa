import Glibc
package import TileStorage
import ZigguratCCurl
import ZigguratFiles
import ZigguratHTTPMessages

/// A client that writes into a bucket of an S3 store. Several threads may use it; each waits for its own requests.
package final class ObjectWriter: ObjectWriting {
  /// The parts of an object that is too large for one request.
  package struct Parts: Sendable {
    /// The maximum size of a file in one request. A larger file is sent in parts.
    package var wholeAtMost = 1 << 30
    /// The size of a part. Stores accept 10,000 parts, and only the last may have less than 5 MiB.
    package var byteCount = 64 << 20

    package init() {}

    /// Returns the ranges of the parts of a file with `count` bytes.
    func ranges(_ count: Int) -> [Range<Int>] {
      let size = max(byteCount, (count + 9_999) / 10_000)
      return stride(from: 0, to: count, by: size).map { $0..<min($0 + size, count) }
    }
  }

  private let address: ObjectAddress
  private let settings: ObjectSettings
  private let parts: Parts
  private let limits: RequestLimits
  private let tries: RetryPolicy

  /// - Parameter limits: the timeouts and the number of attempts of each request.
  package init(
    _ address: ObjectAddress, _ settings: ObjectSettings, parts: Parts = Parts(),
    limits: RequestLimits = .builder
  ) {
    self.address = address
    self.settings = settings
    self.parts = parts
    self.limits = limits
    tries = RetryPolicy(limits)
  }

  package func put(file path: String, sha256: [UInt8], key: String) throws(ObjectError) -> ObjectVersion {
    guard ObjectAddress.isPlain(key), sha256.count == 32 else { throw .invalidRequest }
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .missing }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .missing }
    let count = Int(status.st_size)
    if count > parts.wholeAtMost { return try putParts(file, count, sha256, key) }
    return try put(UploadBody(file, 0..<count), sha256, key)
  }

  package func put(bytes: [UInt8], key: String) throws(ObjectError) -> ObjectVersion {
    guard ObjectAddress.isPlain(key) else { throw .invalidRequest }
    return try put(UploadBody(bytes), SHA256.of(bytes), key)
  }

  private func put(_ body: UploadBody, _ sha256: [UInt8], _ key: String) throws(ObjectError) -> ObjectVersion
  {
    guard let etag = try request(.put, key, body: body, digest: sha256).head.etag else { throw .damaged }
    return ObjectVersion(key: key, etag: etag, byteCount: body.count)
  }

  package func remove(_ key: String) throws(ObjectError) {
    guard ObjectAddress.isPlain(key) else { throw .invalidRequest }
    do { _ = try request(.delete, key) } catch .missing {} catch { throw error }
  }

  /// Returns the time of an object's last change, seconds since 1970; nil if there is no object or no time.
  package func lastWritten(_ key: String) throws(ObjectError) -> Int? {
    guard ObjectAddress.isPlain(key) else { throw .invalidRequest }
    do {
      let time = try request(.head, key).head["last-modified"].map { curl_getdate($0, nil) }
      return time.flatMap { $0 < 0 ? nil : $0 }
    } catch {
      if error == .missing { return nil }
      throw error
    }
  }

  package func list(after key: [UInt8]?) throws(ObjectError) -> ObjectPage {
    // XML cannot represent some characters of keys.
    var query = "encoding-type=url&list-type=2&max-keys=1000"
    if !address.prefix.isEmpty { query += "&prefix=\(PercentEncoding.encode(address.prefix))" }
    if let key { query += "&start-after=\(PercentEncoding.encode(bytes: key))" }
    // A page is empty if, for example, the store searched only removed objects. `start-after` would return it again.
    var token: String?
    for _ in 0...Self.maxEmptyPages {
      // At the front: libcurl signs the parameters in this order, and S3 in the order of their names.
      let continued = token.map { "continuation-token=\(PercentEncoding.encode($0))&" } ?? ""
      let part = try list(continued + query, after: key)
      guard part.page.lastKey == nil, part.hasMore else { return part.page }
      // Without the rest of the list, its objects would seem to be removed.
      guard let next = part.token, next != token else { throw .damaged }
      token = next
    }
    throw .damaged
  }

  /// The maximum number of consecutive empty pages of a list that has more.
  private static let maxEmptyPages = 1000

  private func list(_ query: String, after key: [UInt8]?) throws(ObjectError) -> S3Response.ListPart {
    let answer = try request(.get, "", query).answer
    // By bytes: as a character, the end of the prefix may combine with an accent after it.
    func isAsked(_ found: some Collection<UInt8>) -> Bool {
      found.starts(with: address.prefix.utf8) && key.map { $0.lexicographicallyPrecedes(found) } ?? true
    }
    guard let part = S3Response.list(answer), part.page.versions.allSatisfy({ isAsked($0.key.utf8) }),
      part.page.strayKeys.allSatisfy(isAsked)
    else { throw .damaged }
    return part
  }

  // MARK: Parts

  private func putParts(
    _ file: Int32, _ count: Int, _ sha256: [UInt8], _ key: String
  ) throws(ObjectError) -> ObjectVersion {
    guard let upload = S3Response.upload(try request(.post, key, "uploads=", body: UploadBody([])).answer)
    else {
      throw .damaged
    }
    do throws(ObjectError) {
      let xml = try send(file, count, sha256, key, upload)
      let done = try request(
        .post, key, "uploadId=\(PercentEncoding.encode(upload))", body: UploadBody(xml),
        digest: SHA256.of(xml), limits: limits.ofCompletion)
      guard S3Response.isWhole(done.answer) else { throw .damaged }
      // Some stores return the entity tag only in response to a request of its own (Ceph 16).
      let head = try request(.head, key).head
      guard let etag = head.etag, head["content-length"] == "\(count)" else { throw .damaged }
      return ObjectVersion(key: key, etag: etag, byteCount: count)
    } catch {
      // Otherwise the store keeps the invisible parts. If this fails, the store's own rules remove old uploads.
      _ = try? request(.delete, key, "uploadId=\(PercentEncoding.encode(upload))")
      throw error
    }
  }

  /// - Returns: the list of parts that completes the upload.
  private func send(
    _ file: Int32, _ count: Int, _ sha256: [UInt8], _ key: String, _ upload: String
  ) throws(ObjectError) -> [UInt8] {
    var whole = SHA256()
    var xml = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
    for (index, range) in parts.ranges(count).enumerated() {
      let body = UploadBody(file, range)
      guard let digest = body.digest({ whole.update($0) }) else { throw .cut }
      let query = "partNumber=\(index + 1)&uploadId=\(PercentEncoding.encode(upload))"
      guard let etag = try request(.put, key, query, body: body, digest: digest).head.etag else {
        throw .damaged
      }
      let escaped = etag.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(
        "\"", with: "&quot;")
      xml += "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(escaped)</ETag></Part>"
    }
    // The store compares the parts with their digests. Only this check compares the parts with the file.
    guard whole.digest() == sha256 else { throw .damaged }
    return Array((xml + "</CompleteMultipartUpload>").utf8)
  }

  private func request(
    _ method: Exchange.Method, _ key: String, _ query: String = "", body: UploadBody? = nil,
    digest: [UInt8]? = nil, limits: RequestLimits? = nil
  ) throws(ObjectError) -> Exchange {
    try tries.run { () throws(ObjectError) in
      try Exchange.run(
        method, settings, address.bucket, key: key, query: query, body: body, digest: digest,
        limits: limits ?? self.limits)
    }
  }
}
