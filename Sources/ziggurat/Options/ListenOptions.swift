import ZigguratHTTPServer
import ZigguratImageLibrary
import ZigguratObjectStore
import ZigguratTileServing

/// The listeners of a server besides its host and port, its log, and the shared caches in front of it.
struct ListenOptions {
  static let options: [Option] = [
    networkOptions, logsOptions, cachesOptions,
  ].flatMap { $0 }

  private static let networkOptions = [
    Option(
      "listen", "unix:PATH", isList: true,
      help: "Unix sockets to listen on, instead of --host and --port unless these are given"),
    Option(
      "metrics-listen", "ADDRESS:PORT", isCommon: true,
      help: "Address of a separate listener for /metrics, which is then answered there only"),
  ].grouped(.network)

  private static let logsOptions = [
    Option(
      "log-file", "FILE", default: "stderr", isCommon: true,
      help: "File for the lines of --log; SIGHUP reopens it")
  ].grouped(.logs)

  private static let cachesOptions = [
    Option(
      "shared-cache", was: "edge",
      help: "Let a shared cache in front keep responses for two seconds, and purge them by surrogate keys"),
    Option(
      "purge-url", "URL,…", isList: true, was: "edge-purge",
      help: "Caches to send PURGE requests to when images are gone; implies --shared-cache"),
    Option(
      "purge-key-file", "FILE", default: "DIR/.ziggurat-edge-key", was: "edge-key-file",
      help: "Secret of servers and caches, 64 hexadecimal digits"),
    Option(
      "tile-max-age", .seconds, default: "0",
      help: "Cache lifetime of tiles whose URL names no generation"),
  ].grouped(.caches)

  /// Empty where sockets of the file system, or such as listen already, stand in their place.
  let hosts: [String]
  let paths: [String]
  /// Where sockets listen that were handed over.
  private let handed: [HandedSocket.Place]
  let monitors: (host: String, port: Int)?
  let logFile: String?

  init(
    _ arguments: Arguments, hosts: [String], handed: [HandedSocket.Place], into access: inout Access
  ) throws(UsageError) {
    var paths: [String] = []
    if let text = arguments.string("listen") {
      for word in text.split(separator: ",", omittingEmptySubsequences: false) {
        guard word.hasPrefix("unix:"), word.count > 5 else {
          throw arguments.invalid("listen", expected: "unix:PATH, several with commas between")
        }
        paths.append(String(word.dropFirst(5)))
      }
    }
    self.paths = paths
    self.handed = handed
    let isNamed = arguments.string("host") != nil || arguments.string("port") != nil
    // A unit's own host and port are for when nothing is handed over.
    self.hosts = handed.isEmpty && (paths.isEmpty || isNamed) ? hosts : []
    let isOfFiles = handed.allSatisfy { if case .path = $0 { true } else { false } }
    monitors = try Self.monitors(arguments)
    access.hidesMetrics = monitors != nil
    access.tileMaxAge = try arguments.quantity("tile-max-age", in: 0...31_536_000) ?? 0
    logFile = arguments.string("log-file")
    if logFile != nil, arguments.string("log") ?? "none" == "none" {
      throw .requires(arguments.spelled("log-file"), "--log text or --log json")
    }
    // Who has a socket of the file system has it for a proxy.
    if self.hosts.isEmpty, isOfFiles, arguments.string("trusted-proxy") == nil,
      arguments.string("base-url") == nil
    {
      access.proxies = TrustedProxies("unix") ?? .none
    }
  }

  /// Returns a warning about options that are valid and risky; nil if there are none.
  static func advice(_ arguments: Arguments) throws(UsageError) -> String? {
    guard try isBehindEdge(arguments), arguments.string("base-url") == nil else { return nil }
    return
      "without --base-url, URLs in responses contain the Host header of the client, and a shared cache "
      + "serves them to others"
  }

  /// Hosts that are listened on, each with its port.
  /// - Parameter port: of those that were opened here.
  func doors(port: Int) -> [(host: String, port: Int)] {
    hosts.map { ($0, port) }
      + handed.compactMap { if case .address(let host, let port) = $0 { (host, port) } else { nil } }
  }

  /// Sockets of the file system, wherever they are from.
  var allPaths: [String] {
    paths + handed.compactMap { if case .path(let path) = $0 { path } else { nil } }
  }

  /// Returns the caches in front of the server and the key that it shares with them; nil if there are none.
  static func edge(
    _ arguments: Arguments, of library: any ImageRepository, at place: String
  ) throws(UsageError) -> (caches: [EdgeCache], key: EdgeKey)? {
    guard try isBehindEdge(arguments) else { return nil }
    let file = arguments.string("purge-key-file")
    // Servers of one bucket share no folder in which they could all write.
    if file == nil, library.isForeign || library.folder == nil {
      throw .requires(
        arguments.spelled("shared-cache"),
        "--purge-key-file unless a library's folder is served ('openssl rand -hex 32' prints a key)")
    }
    let key = try SecretFile.edgeKey(file, library: place)
    return (try caches(arguments, key), key)
  }

  /// Refuses options that are for public images only.
  static func check(_ arguments: Arguments) throws(UsageError) {
    guard try isBehindEdge(arguments) else {
      if arguments.string("purge-key-file") != nil {
        throw .requires(arguments.spelled("purge-key-file"), "--shared-cache or --purge-url")
      }
      return
    }
    guard try arguments.flag("space") else {
      // Mistakes in addresses are reported before anything is opened.
      _ = try caches(arguments, EdgeKey.make())
      return
    }
    throw .conflict("--space", "--shared-cache")
  }

  /// Whether a shared cache stands in front of the server.
  private static func isBehindEdge(_ arguments: Arguments) throws(UsageError) -> Bool {
    try arguments.flag("shared-cache") || arguments.string("purge-url") != nil
  }

  private static func caches(_ arguments: Arguments, _ key: EdgeKey) throws(UsageError) -> [EdgeCache] {
    guard let text = arguments.string("purge-url") else { return [] }
    let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    let caches = words.compactMap { EdgeCache($0, key: key.text) }
    guard caches.count == words.count else {
      throw arguments.invalid(
        "purge-url", expected: "URLs such as http://127.0.0.1:6081/, several with commas between")
    }
    return caches
  }

  private static func monitors(
    _ arguments: Arguments
  ) throws(UsageError) -> (host: String, port: Int)? {
    guard let text = arguments.string("metrics-listen") else { return nil }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let host = parts.dropLast().joined(separator: ":")
    let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    guard !bare.isEmpty, bare == host ? !bare.contains(":") : true, let port = Int(parts.last ?? ""),
      (0...65535).contains(port)
    else {
      throw arguments.invalid("metrics-listen", expected: "ADDRESS:PORT, such as 127.0.0.1:8079")
    }
    return (bare, port)
  }
}
