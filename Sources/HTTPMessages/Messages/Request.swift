/// One HTTP request as far as an answer depends on it.
package struct Request: Sendable {
  package let method: String
  /// The path as it was sent, percent-encoding and all, without the query.
  package let rawPath: [UInt8]
  /// The query as it was sent, without the `?`.
  package let query: [UInt8]
  /// Of a request that has one, whole.
  package var body: [UInt8]
  /// Where it comes from, by the word of trusted proxies too; nil where there is no address.
  package let origin: IPAddress?
  /// Whether it came in where monitors ask.
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

  /// Name and value of each query parameter, in order, as sent, except that `+` is a space.
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

  /// Whose request it is, for whatever is limited or dealt by client.
  package var client: ClientAddress { ClientAddress(origin) }

  /// A header's value; names are not case-sensitive.
  package func header(_ name: String) -> String? { header(name) }

  /// Whether it changes nothing and has an answer with a body.
  package var isRead: Bool { method == "GET" || method == "HEAD" }

  /// What a read makes its answer depend on.
  package var conditions: KeptConditions { KeptConditions(isGet: method == "GET", header) }

  /// The same for any thread: with its own copy of the headers that answers depend on.
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
