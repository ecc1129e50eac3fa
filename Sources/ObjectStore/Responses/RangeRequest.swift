import TileStorage

/// A request for a part of an object, which checks the response.
enum RangeRequest: Sendable {
  case part(ObjectVersion, Range<Int>)
  case end(key: String, atMost: Int)

  var key: String {
    switch self {
    case .part(let version, _): version.key
    case .end(let key, _): key
    }
  }

  /// The version of the object, if it is known.
  var version: ObjectVersion? { if case .part(let version, _) = self { version } else { nil } }

  /// The range in the format of libcurl.
  var range: String {
    switch self {
    case .part(_, let range): "\(range.lowerBound)-\(range.upperBound - 1)"
    case .end(_, let count): "-\(count)"
    }
  }

  /// Returns the version and the number of bytes that a response announces.
  func expected(_ head: ResponseHead) -> Result<(version: ObjectVersion, count: Int), ObjectError> {
    if let error = head.error { return .failure(error) }
    // Status 200 means the whole object, whatever range was requested.
    guard head.status == 206, let sent = head.contentRange, let etag = head.etag,
      head["content-encoding"].map({ $0 == "identity" }) ?? true,
      head["content-length"].map({ Int($0) == sent.range.count }) ?? true
    else { return .failure(.damaged) }
    switch self {
    case .part(let version, let range):
      // A store without conditional requests sends the current version.
      guard etag == version.etag, sent.whole == version.byteCount else { return .failure(.otherVersion) }
      guard sent.range == range else { return .failure(.damaged) }
      return .success((version, range.count))
    case .end(let key, let count):
      guard sent.range.upperBound == sent.whole, sent.range.count == min(count, sent.whole) else {
        return .failure(.damaged)
      }
      return .success((ObjectVersion(key: key, etag: etag, byteCount: sent.whole), sent.range.count))
    }
  }
}
