import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileProtocols

/// A request's path in normalized form (RFC 3986, section 6.2.2.2). Only slashes and percent signs stay escaped, so
/// that an escaped slash is part of an id. The query follows, with plus signs decoded to spaces and escaped
/// ampersands kept.
struct NormalizedPath {
  /// The path, followed by a question mark and the query if there is one.
  let bytes: [UInt8]
  /// The length of the path in bytes.
  let count: Int
  /// The route of the path and query.
  let route: Route

  /// The status and reason for an invalid path.
  struct ValidationError: Error {
    let status: Int
    let text: String

    init(_ status: Int, _ text: String) {
      self.status = status
      self.text = text
    }
  }

  /// - Parameters:
  ///   - path: the path as sent.
  ///   - query: the query as sent, without the `?`. A malformed one stays unchanged.
  init(_ path: [UInt8], query: [UInt8] = []) throws(ValidationError) {
    guard path.first == UInt8(ascii: "/"), path.count <= 4096 else {
      throw ValidationError(400, "the path is malformed or too long")
    }
    guard var bytes = Self.spelled(path), String(validating: bytes, as: UTF8.self) != nil else {
      throw ValidationError(400, "the path has a malformed escape or is not UTF-8")
    }
    // Browsers resolve dot segments before they send a request; others are path traversal attempts.
    for segment in bytes.split(separator: UInt8(ascii: "/")) where segment.count <= 2 {
      guard segment.contains(where: { $0 != UInt8(ascii: ".") }) else {
        throw ValidationError(404, "there is nothing at this path")
      }
    }
    let count = bytes.count
    if !query.isEmpty {
      let normalized = Self.spelled(query, isQuery: true)
      bytes.append(UInt8(ascii: "?"))
      bytes += normalized.flatMap { String(validating: $0, as: UTF8.self) == nil ? nil : $0 } ?? query
    }
    self.bytes = bytes
    self.count = count
    route = bytes.withUnsafeBytes { Route(RawPath($0, count: count)) }
  }

  func withRawPath<Result>(_ use: (RawPath) -> Result) -> Result {
    bytes.withUnsafeBytes { use(RawPath($0, count: count)) }
  }

  /// Returns a part of the path, decoded.
  func text(_ range: Range<Int>) -> String {
    // The whole path was validated, so each part that ends at delimiters is well-formed.
    PercentEncoding.decodedString(bytes[range]) ?? ""
  }

  /// Returns the image that a part of the path names; nil if it names none.
  func reference(_ range: Range<Int>) -> ImageReference? { ImageReference(text(range)) }

  private static func spelled(_ path: [UInt8], isQuery: Bool = false) -> [UInt8]? {
    let (percent, plus) = (UInt8(ascii: "%"), UInt8(ascii: "+"))
    guard path.contains(percent) || path.contains(0) || isQuery && path.contains(plus) else { return path }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(path.count)
    var rest = path.makeIterator()
    while let byte = rest.next() {
      guard byte == percent else {
        guard byte != 0 else { return nil }
        bytes.append(isQuery && byte == plus ? UInt8(ascii: " ") : byte)
        continue
      }
      guard let high = rest.next().flatMap(PercentEncoding.hexDigit),
        let low = rest.next().flatMap(PercentEncoding.hexDigit)
      else { return nil }
      switch high << 4 | low {
      case 0: return nil
      case UInt8(ascii: "/"): bytes += "%2F".utf8
      case percent: bytes += "%25".utf8
      case plus where isQuery: bytes += "%2B".utf8
      case UInt8(ascii: "&") where isQuery: bytes += "%26".utf8
      case let byte: bytes.append(byte)
      }
    }
    return bytes
  }
}

/// A request's normalized path or the reason why it is invalid, parsed once for all uses.
typealias RequestedPath = Result<NormalizedPath, NormalizedPath.ValidationError>

extension RequestedPath {
  init(_ request: Request) {
    self.init { () throws(NormalizedPath.ValidationError) in
      try NormalizedPath(request.rawPath, query: request.query)
    }
  }

  /// `nil` if the path is malformed.
  var found: NormalizedPath? { if case .success(let path) = self { path } else { nil } }

  var route: Route? { found?.route }
}
