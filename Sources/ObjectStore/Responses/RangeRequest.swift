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

  /// The version of the object, where it is known.
  var version: ObjectVersion? { if case .part(let version, _) = self { version } else { nil } }

  /// As curl takes it.
  var range: String {
    switch self {
    case .part(_, let range): "\(range.lowerBound)-\(range.upperBound - 1)"
    case .end(_, let count): "-\(count)"
    }
  }

  /// Returns the version and the number of bytes that a response announces.
  func expected(_ head: ResponseHead) -> Result<(version: ObjectVersion, count: Int), ObjectError> {
    if let error = head.error { return .failure(error) }
    // 200 is the whole object, whatever range was asked for.
    guard head.status == 206, let sent = head.contentRange, let etag = head.etag,
      head["content-encoding"].map({ $0 == "identity" }) ?? true,
      head["content-length"].map({ Int($0) == sent.range.count }) ?? true
    else { return .failure(.damaged) }
    switch self {
    case .part(let version, let range):
      // A store that takes no conditions answers with whatever there is.
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
