import HTTPListening
import ImageLibrary
import ObjectStore
import TileServing

/// Where a server listens besides its host and port, and where it writes what it answered.
struct ListenOptions {
  static let options = [
    Option(
      "listen", "unix:PATH", isList: true,
      help: "sockets of the file system, in place of --host and --port unless these are given"),
    Option(
      "metrics-listen", "ADDRESS:PORT",
      help: "answer /metrics there alone, and not where everybody asks"),
    Option("log-file", "FILE", help: "write the lines of --log there; SIGHUP opens it anew"),
    Option(
      "edge",
      help: "a shared cache in front may keep answers for two seconds, and forgets by keys"),
    Option(
      "edge-purge", "URL", isList: true,
      help: "caches that are asked (PURGE) to forget images which are gone; implies --edge"),
    Option(
      "edge-key-file", "FILE",
      help: "secret of servers and caches, 64 hex digits (default DIR/.ziggurat-edge-key)"),
    Option(
      "tile-max-age", "0", help: "seconds that a tile may be kept unasked, whose URL names no generation"),
  ]

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
          throw UsageError(
            "\(arguments.spelled("listen")) is '\(text)'; it takes unix:PATH, with commas between")
        }
        paths.append(String(word.dropFirst(5)))
      }
    }
    (self.paths, self.handed) = (paths, handed)
    let isNamed = arguments.string("host") != nil || arguments.string("port") != nil
    // A unit's own host and port are for when nothing is handed over.
    self.hosts = handed.isEmpty && (paths.isEmpty || isNamed) ? hosts : []
    let isOfFiles = handed.allSatisfy { if case .path = $0 { true } else { false } }
    monitors = try Self.monitors(arguments)
    access.hidesMetrics = monitors != nil
    access.tileMaxAge = try arguments.int("tile-max-age", in: 0...31_536_000) ?? 0
    logFile = arguments.string("log-file")
    if logFile != nil, arguments.string("log") ?? "none" == "none" {
      throw UsageError("--log-file has no meaning without --log text or --log json")
    }
    // Who has a socket of the file system has it for a proxy.
    if self.hosts.isEmpty, isOfFiles, arguments.string("trusted-proxy") == nil,
      arguments.string("base-url") == nil
    {
      access.proxies = TrustedProxies("unix") ?? .none
    }
  }

  /// What goes, and is better told of; nil of nothing.
  static func advice(_ arguments: Arguments) throws(UsageError) -> String? {
    guard try isBehindEdge(arguments), arguments.string("base-url") == nil else { return nil }
    return
      "without --base-url addresses in answers are made of what a visitor says that the host is called, and a shared cache "
      + "gives them to others"
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
    _ arguments: Arguments, of library: Library, at place: String
  ) throws(UsageError) -> (caches: [EdgeCache], key: EdgeKey)? {
    guard try isBehindEdge(arguments) else { return nil }
    let file = arguments.string("edge-key-file")
    // Servers of one bucket share no folder in which they could all write.
    if file == nil, library.isForeign || library.isInMemory {
      throw UsageError(
        "--edge requires --edge-key-file unless a library's folder is served; 'openssl rand -hex 32' prints a key"
      )
    }
    let key = try SecretFile.edgeKey(file, library: place)
    return (try caches(arguments, key), key)
  }

  /// Refuses what goes with what everybody may see alone.
  static func check(_ arguments: Arguments) throws(UsageError) {
    guard try isBehindEdge(arguments) else {
      if arguments.string("edge-key-file") != nil {
        throw UsageError("\(arguments.spelled("edge-key-file")) requires --edge or --edge-purge")
      }
      return
    }
    guard try arguments.flag("space") else {
      // Mistakes in addresses are reported before anything is opened.
      _ = try caches(arguments, EdgeKey.make())
      return
    }
    throw UsageError("--space and --edge do not go together: nothing private is kept by caches")
  }

  /// Whether a shared cache stands in front of the server.
  private static func isBehindEdge(_ arguments: Arguments) throws(UsageError) -> Bool {
    try arguments.flag("edge") || arguments.string("edge-purge") != nil
  }

  private static func caches(_ arguments: Arguments, _ key: EdgeKey) throws(UsageError) -> [EdgeCache] {
    guard let text = arguments.string("edge-purge") else { return [] }
    let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    let caches = words.compactMap { EdgeCache($0, key: key.text) }
    guard caches.count == words.count else {
      throw UsageError(
        "\(arguments.spelled("edge-purge")) is '\(text)'; it takes addresses such as http://127.0.0.1:6081/, with "
          + "commas between")
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
      throw UsageError(
        "\(arguments.spelled("metrics-listen")) is '\(text)'; it takes ADDRESS:PORT, such as 127.0.0.1:9100")
    }
    return (bare, port)
  }
}
