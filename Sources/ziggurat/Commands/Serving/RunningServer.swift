import ZigguratHTTPServer
import ZigguratImageLibrary
import ZigguratTileServing
import ZigguratUploading

/// A server that listens.
struct RunningServer {
  let tileServer: TileServer
  let listener: HTTPServer
  let uploads: Uploads?
  /// The key that the server shares with caches in front of it; nil without such caches.
  let cacheKey: PurgeKey?
  /// The key in the printed address of a private space.
  let launchKey: LaunchKeyAuth?
  /// The folder of the viewer; nil if it was not found.
  let viewer: String?
  /// The addresses that the server listens on, except that of metrics.
  let endpoints: [ServerConfiguration.Endpoint]

  /// - Throws: a ``UsageError`` about the key of caches, a `StorageError`, or a `StartError` of the listener.
  init(_ configuration: ServerConfiguration, _ process: ServerProcess, _ library: any ImageRepository) throws
  {
    let network = configuration.network
    let base = network.baseURL ?? ""
    cacheKey = try Self.cacheKey(configuration, process, library)
    launchKey = configuration.spaces.isServedAlone ? LaunchKeyAuth(isSecure: base.hasPrefix("https:")) : nil
    viewer = configuration.pages.webroot ?? PublicFolder.find()
    uploads = try configuration.uploadLimits.map {
      try Uploads(library: configuration.uploadRoot, limits: $0)
    }
    for error in uploads?.unread ?? [] { Output.error("\(error); its folder is left as it is") }
    var access = process.access
    access.surrogateSeed = cacheKey?.seed
    tileServer = try TileServer(
      library: library, publicFolder: viewer, baseURL: base, rendering: configuration.rendering,
      launchKey: launchKey,
      access: access, uploads: uploads, version: Ziggurat.version, identity: configuration.pages.identity)
    let places = process.sockets.map(\.place)
    let hosts = configuration.hosts(besides: places)
    listener = try HTTPServer(
      tileServer: tileServer, hosts: hosts, port: network.port, paths: network.paths, handed: process.sockets,
      monitors: network.metrics.map { ($0.host, $0.port) }, threads: configuration.rendering.threads,
      limits: process.limits, log: configuration.logs.style, logFile: configuration.logs.file,
      report: { Output.error($0) })
    let port = listener.port
    endpoints = hosts.map { .init(host: $0, port: port) } + places.compactMap(\.address)
  }

  private static func cacheKey(
    _ configuration: ServerConfiguration, _ process: ServerProcess, _ library: any ImageRepository
  ) throws(UsageError) -> PurgeKey? {
    guard configuration.caches.isShared else { return nil }
    if let key = process.purgeKey { return key }
    // Nothing is written into a folder that is not a library of this program.
    if library.isForeign || library.folder == nil { throw ServerConfiguration.requiresKeyFile() }
    return try SecretFile.edgeKey(library: configuration.library.location)
  }
}
