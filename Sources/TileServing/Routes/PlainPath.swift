import HTTPMessages
import TileProtocols

/// A request's path in one spelling (RFC 3986, section 6.2.2.2): escaped is only what would be something else
/// otherwise, a slash and a percent sign, so that an escaped slash stays part of an id.
struct PlainPath {
  let bytes: [UInt8]
  /// What it asks for.
  let route: Route

  /// Why a path is none.
  struct Refusal: Error {
    let status: Int
    let text: String

    init(_ status: Int, _ text: String) { (self.status, self.text) = (status, text) }
  }

  /// - Parameter path: as sent.
  init(_ path: [UInt8]) throws(Refusal) {
    guard path.first == UInt8(ascii: "/"), path.count <= 4096 else {
      throw Refusal(400, "the path is malformed or too long")
    }
    guard let bytes = Self.spelled(path), String(validating: bytes, as: UTF8.self) != nil else {
      throw Refusal(400, "the path has a malformed escape or is no UTF-8")
    }
    // Browsers resolve these before they ask; what is left of them is an attempt.
    for segment in bytes.split(separator: UInt8(ascii: "/")) where segment.count <= 2 {
      guard segment.contains(where: { $0 != UInt8(ascii: ".") }) else {
        throw Refusal(404, "there is nothing at this path")
      }
    }
    self.bytes = bytes
    route = bytes.withUnsafeBytes { Route($0) }
  }

  /// A part of the path, decoded.
  func text(_ range: Range<Int>) -> String {
    // What was checked as a whole is well-formed in every part that ends at marks.
    PercentEncoding.decodedString(bytes[range]) ?? ""
  }

  private static func spelled(_ path: [UInt8]) -> [UInt8]? {
    let percent = UInt8(ascii: "%")
    guard path.contains(percent) || path.contains(0) else { return path }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(path.count)
    var rest = path.makeIterator()
    while let byte = rest.next() {
      guard byte == percent else {
        guard byte != 0 else { return nil }
        bytes.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(PercentEncoding.hexDigit),
        let low = rest.next().flatMap(PercentEncoding.hexDigit)
      else { return nil }
      switch high << 4 | low {
      case 0: return nil
      case UInt8(ascii: "/"): bytes += "%2F".utf8
      case percent: bytes += "%25".utf8
      case let byte: bytes.append(byte)
      }
    }
    return bytes
  }
}
