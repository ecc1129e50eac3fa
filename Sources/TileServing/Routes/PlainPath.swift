import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileProtocols

/// A request's path in one spelling (RFC 3986, section 6.2.2.2): escaped is only what would be something else
/// otherwise, a slash and a percent sign, so that an escaped slash stays part of an id. With the query behind it, where
/// a plus is a space and an ampersand that is escaped stays so.
struct PlainPath {
  /// The path, and of a request that has a query a question mark and the query.
  let bytes: [UInt8]
  /// Bytes of the path alone.
  let count: Int
  /// The resource that it names.
  let route: Route

  /// Why a path is none.
  struct Refusal: Error {
    let status: Int
    let text: String

    init(_ status: Int, _ text: String) { (self.status, self.text) = (status, text) }
  }

  /// - Parameters:
  ///   - path: as sent.
  ///   - query: as sent, without the `?`; as it is where it is malformed.
  init(_ path: [UInt8], query: [UInt8] = []) throws(Refusal) {
    guard path.first == UInt8(ascii: "/"), path.count <= 4096 else {
      throw Refusal(400, "the path is malformed or too long")
    }
    guard var bytes = Self.spelled(path), String(validating: bytes, as: UTF8.self) != nil else {
      throw Refusal(400, "the path has a malformed escape or is not UTF-8")
    }
    // Browsers resolve these before they ask; what is left of them is an attempt.
    for segment in bytes.split(separator: UInt8(ascii: "/")) where segment.count <= 2 {
      guard segment.contains(where: { $0 != UInt8(ascii: ".") }) else {
        throw Refusal(404, "there is nothing at this path")
      }
    }
    let count = bytes.count
    if !query.isEmpty {
      let words = Self.spelled(query, isQuery: true)
      bytes.append(UInt8(ascii: "?"))
      bytes += words.flatMap { String(validating: $0, as: UTF8.self) == nil ? nil : $0 } ?? query
    }
    self.bytes = bytes
    self.count = count
    route = bytes.withUnsafeBytes { Route(RawPath($0, count: count)) }
  }

  func withRawPath<Result>(_ use: (RawPath) -> Result) -> Result {
    bytes.withUnsafeBytes { use(RawPath($0, count: count)) }
  }

  /// A part of the path, decoded.
  func text(_ range: Range<Int>) -> String {
    // What was checked as a whole is well-formed in every part that ends at marks.
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

/// A request's path in one spelling, or why it has none: parsed once for all that is asked of it.
typealias AskedPath = Result<PlainPath, PlainPath.Refusal>

extension AskedPath {
  init(_ request: Request) {
    self.init { () throws(PlainPath.Refusal) in try PlainPath(request.rawPath, query: request.query) }
  }

  /// `nil` if the path is malformed.
  var found: PlainPath? { if case .success(let path) = self { path } else { nil } }

  var route: Route? { found?.route }
}
