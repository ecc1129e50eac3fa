import Foundation
import TileStorage
import ZigguratFiles
import ZigguratTileServing

/// Options of network security: proxies, names, sites, and the audit log.
enum DoorOptions {
  static let options: [Option] = [
    networkOptions, changesOptions, logsOptions,
  ].flatMap { $0 }

  private static let networkOptions = [
    Option(
      "trusted-proxy", "CIDR,…", default: "none; with --base-url: local", isList: true, isCommon: true,
      help: "Proxies whose Forwarded headers are used; unix or none"),
    Option(
      "allow-host", "NAME,…", isList: true,
      help: "Additional Host names to accept on private addresses: *.example.org, or * for all"),
    Option(
      "allow-origin", "ORIGIN,…", default: "*", isList: true,
      help: "Sites whose pages may read, and with the token write: https://example.org, or none"),
    Option(
      "frame-ancestors", "SITE,…", default: "*", isList: true,
      help: "Sites whose pages may frame an image: https://example.org, self or none"),
  ].grouped(.network)

  private static let changesOptions = [
    Option(
      "public-originals", was: "offer-originals",
      help: "Let everybody download the files that --keep-originals has kept, with all their metadata")
  ].grouped(.changes)

  private static let logsOptions = [
    Option(
      "audit-log", "FILE", was: "audit",
      help: "Write a JSON line to FILE for each login, change and upload; SIGHUP reopens it")
  ].grouped(.logs)

  /// - Parameters:
  ///   - base: the value of `--base-url`, or nothing.
  ///   - listening: names and addresses that are listened on.
  static func read(
    _ arguments: Arguments, base: String, listening: [String], into access: inout Access
  ) throws(UsageError) {
    access.proxies =
      try arguments.value(
        "trusted-proxy",
        expected: "addresses and ranges with commas between, as 10.0.0.0/8,2001:db8::/32, or unix or none",
        TrustedProxies.init)
      ?? (arguments.string("base-url") == nil ? .none : .local)
    access.readsForwardedBase = arguments.string("base-url") == "auto"
    let hosts = HostNames(own: names(base, listening))
    access.hosts =
      try arguments.value(
        "allow-host", expected: "names with commas between, as images.example.org,*.example.org, or *",
        hosts.adding)
      ?? hosts
    access.origins =
      try arguments.value(
        "allow-origin", expected: "origins with commas between, as https://example.org:8443, or * or none",
        AllowedOrigins.init)
      ?? .any
    access.offersOriginals = try arguments.flag("public-originals")
    access.frames =
      try arguments.value(
        "frame-ancestors",
        expected: "self or sites with commas between, as https://*.example.org, or * or none",
        FrameAncestors.init)
  }

  /// Opens the audit log, if there is one.
  static func openAudit(_ arguments: Arguments, into access: inout Access) throws(StorageError) {
    guard let path = arguments.string("audit-log") else { return }
    access.audit = try AuditLog(path: path) { Output.error($0) }
  }

  /// Returns the names of this server: of its listeners, its public URL and its machine.
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
