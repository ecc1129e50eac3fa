/// The parts of an HTTP request on which its answer depends.
package struct Request: Sendable {
  package let method: String
  /// The path as the client sent it, percent-encoded, without the query.
  package let rawPath: [UInt8]
  /// The query as the client sent it, without the `?`.
  package let query: [UInt8]
  /// The whole body; empty for a request without one.
  package var body: [UInt8]
  /// The address of the client, also according to trusted proxies; nil if it has none.
  package let origin: IPAddress?
  /// Whether the request arrived at the monitoring listener.
  package let isMonitor: Bool
  /// The address by which the client reached the server, as a trusted proxy states it, without a slash at its end.
  package let publicBase: String?
  private let header: @Sendable (String) -> String?

  package init(
    method: String, rawPath: [UInt8], query: [UInt8] = [], body: [UInt8] = [],
    origin: IPAddress? = nil, isMonitor: Bool = false, publicBase: String? = nil,
    header: @escaping @Sendable (String) -> String? = { _ in nil }
  ) {
    self.method = method
    self.rawPath = rawPath
    self.query = query
    self.body = body
    self.origin = origin
    self.isMonitor = isMonitor
    self.publicBase = publicBase
    self.header = header
  }

  /// The name and value of each query parameter, in order, percent-encoded, except that `+` is a space.
  package var parameters: [(name: [UInt8], value: [UInt8])] {
    query.split(separator: UInt8(ascii: "&")).map { part in
      let end = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
      return (Self.spaced(part[..<end]), Self.spaced(part[end...].dropFirst()))
    }
  }

  private static func spaced(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    bytes.contains(UInt8(ascii: "+"))
      ? bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 } : Array(bytes)
  }

  /// The client to which the request is attributed, for limits and fair queueing.
  package var client: ClientAddress { ClientAddress(origin) }

  /// Returns a header's value; names are not case-sensitive.
  package func header(_ name: String) -> String? { header(name) }

  /// Whether it is a GET or a HEAD: it changes nothing, and has an answer with a body.
  package var isRead: Bool { method == "GET" || method == "HEAD" }

  /// The conditions of a GET or a HEAD.
  package var conditions: OwnedConditions { OwnedConditions(isGet: method == "GET", header) }

  /// The request for any thread: with its own copy of the headers on which answers depend.
  package var detached: Request {
    var headers: [String: String] = [:]
    for name in [
      "Accept", "Accept-Encoding", "Authorization", "Cookie", "Host", "If-Match", "Origin", "Sec-Fetch-Site",
      "X-Forwarded-Proto", "Ziggurat-Require-Writer", "Ziggurat-Writer",
    ] {
      headers[name.lowercased()] = header(name)
    }
    return Request(
      method: method, rawPath: rawPath, query: query, body: body, origin: origin, isMonitor: isMonitor,
      publicBase: publicBase
    ) { [headers] in headers[$0.lowercased()] }
  }
}
