import Files
import Foundation
import TileServing
import TileStorage

/// Who is let in, by what stands in front of the server and by what browsers tell.
enum DoorOptions {
  static let options = [
    Option(
      "trusted-proxy", "CIDR,…", isList: true,
      help: "proxies whose Forwarded headers count; or unix, none (with --base-url: local)"),
    Option(
      "allow-host", "NAME,…", isList: true,
      help: "more names to be asked by at private addresses: *.example.org, * for all"),
    Option(
      "allow-origin", "*", isList: true,
      help: "sites whose pages may read, and with the token write: https://example.org, none"),
    Option(
      "frame-ancestors", "*", isList: true,
      help: "sites whose pages may frame a picture: https://example.org, self, none"),
    Option(
      "offer-originals",
      help: "everybody may download what --keep-sources kept, with all that it tells"),
    Option(
      "audit", "FILE",
      help: "a line of JSON in FILE for each login, change and upload; SIGHUP opens it anew"),
  ]

  /// - Parameters:
  ///   - base: `--base-url`, or nothing.
  ///   - listening: names and addresses that are listened on.
  static func read(
    _ arguments: Arguments, base: String, listening: [String], into access: inout Access
  ) throws(UsageError) {
    access.proxies =
      try value(
        arguments, "trusted-proxy", TrustedProxies.init,
        "addresses and ranges such as 10.0.0.0/8 or 2001:db8::/32, unix, or none")
      ?? (arguments.string("base-url") == nil ? .none : .local)
    access.readsForwardedBase = arguments.string("base-url") == "auto"
    let hosts = HostNames(own: names(base, listening))
    access.hosts =
      try value(
        arguments, "allow-host", hosts.adding, "names such as images.example.org or *.example.org, or *")
      ?? hosts
    access.origins =
      try value(
        arguments, "allow-origin", AllowedOrigins.init,
        "origins such as https://example.org:8443, or * or none alone")
      ?? .any
    access.offersOriginals = try arguments.flag("offer-originals")
    access.frames =
      try value(
        arguments, "frame-ancestors", FrameAncestors.init,
        "self, sites such as https://example.org or https://*.example.org, or * or none alone")
  }

  /// Opens the audit log, where there is to be one.
  static func openAudit(_ arguments: Arguments, into access: inout Access) throws(StorageError) {
    guard let path = arguments.string("audit") else { return }
    access.audit = try AuditLog(path: path) { Output.error($0) }
  }

  /// - Parameter kind: what the option takes, for who gave something else.
  private static func value<Value>(
    _ arguments: Arguments, _ name: String, _ parse: (String) -> Value?, _ kind: String
  ) throws(UsageError) -> Value? {
    guard let text = arguments.string(name) else { return nil }
    guard let value = parse(text) else {
      throw UsageError("\(arguments.spelled(name)) is '\(text)'; it takes \(kind), with commas between")
    }
    return value
  }

  /// What this server is called: where it is listened on, by the public URL, and as a machine.
  private static func names(_ base: String, _ listening: [String]) -> [String] {
    var names = listening
    if let host = URL(string: base)?.host { names.append(host) }
    var text = [CChar](repeating: 0, count: 256)
    if gethostname(&text, text.count - 1) == 0 {
      let name = text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
      let first = String(name.prefix { $0 != "." })
      names += [name, first, first + ".local"]
    }
    return names
  }
}
