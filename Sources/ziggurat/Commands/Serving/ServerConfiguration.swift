import Foundation
import ZigguratHTTPServer
import ZigguratObjectStore
import ZigguratTileServing
import ZigguratUploading

/// The configuration of `serve`, made from options, environment variables and the file of `--config`.
///
/// It contains no secrets, only the paths of their files: ``ServerProcess`` reads these after the sandbox has started.
/// The URL of a catalog is encoded without its password.
struct ServerConfiguration: Codable, Equatable, Sendable {
  var library: LibrarySettings
  var network = NetworkSettings()
  var pages = PageSettings()
  var changes = ChangeSettings()
  var uploads = UploadSettings()
  var spaces = SpaceSettings()
  var caches = CacheSettings()
  var rendering = RenderOptions()
  var limits = HTTPServer.Limits()
  var logs = LogSettings()

  struct LibrarySettings: Codable, Equatable, Sendable {
    /// A folder, an archive or `s3://BUCKET/PREFIX`; with `--build`, the folder of the archives.
    var location: String
    /// The folder of images to build archives of; nil without `--build`.
    var pictures: String?
    /// Whether `location` is a folder of the user's caches.
    var isInCache = false
    /// Bytes of memory for tiles from an object store.
    var objectCacheSize = 256 << 20
    var catalog: CatalogURL?
    /// The URL of this server for other servers of the catalog.
    var advertiseURL: String?

    var isBucket: Bool { ObjectLibrary.isMeant(by: location) }
    var isShared: Bool { isBucket && catalog != nil }
  }

  struct NetworkSettings: Codable, Equatable, Sendable {
    var hosts = ["127.0.0.1"]
    var port = 8080
    /// Whether `--listen` replaces the hosts and the port.
    var listensOnPathsOnly = false
    /// Unix sockets.
    var paths: [String] = []
    /// The listener for `/metrics`.
    var metrics: Endpoint?
    /// The public URL; nil if it is unknown or varies.
    var baseURL: String?
    /// Whether trusted proxies state the public URL in each request.
    var readsForwardedBase = false
    var trustedProxies: TextValue<TrustedProxies>?
    var allowedHosts: TextValue<AllowedHosts>?
    var allowedOrigins: TextValue<AllowedOrigins>?
    var frameAncestors: TextValue<FrameAncestors>?

    var hasBaseURL: Bool { readsForwardedBase || baseURL != nil }
  }

  struct Endpoint: Codable, Equatable, Sendable {
    var host: String
    var port: Int

    init(host: String, port: Int) {
      self.host = host
      self.port = port
    }

    /// Parses `ADDRESS:PORT`, IPv6 in brackets; nil if the text is invalid.
    init?(_ text: String) {
      let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      let host = parts.dropLast().joined(separator: ":")
      let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
      guard !bare.isEmpty, bare == host ? !bare.contains(":") : true, let port = Int(parts.last ?? ""),
        (0...65535).contains(port)
      else { return nil }
      self.init(host: bare, port: port)
    }

    /// The endpoint's URL, with `/` as its path.
    var url: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)/" }
  }

  struct PageSettings: Codable, Equatable, Sendable {
    /// The folder of the viewer; nil for that of the installation.
    var webroot: String?
    var identity = SiteIdentity()
  }

  struct ChangeSettings: Codable, Equatable, Sendable {
    var isWritable = false
    /// The file of the token; nil for a new token.
    var tokenFile: String?
    /// Seconds in which deleted images can be restored.
    var keepsDeleted = TileServerConfiguration().keepsDeleted
    /// Whether every client can download original files.
    var publicOriginals = false
  }

  struct UploadSettings: Codable, Equatable, Sendable {
    /// The folder for unfinished uploads to an object store.
    var folder: String?
    var limits = UploadLimits()
  }

  struct SpaceSettings: Codable, Equatable, Sendable {
    /// Whether clients can unlock private spaces.
    enum Offer: String, Codable, Sendable {
      case no, yes
      /// Once the library has a private space.
      case auto
    }

    /// Whether only a private space is served, to this machine.
    var isServedAlone = false
    /// The file of its password, `-` for stdin; nil for the terminal.
    var passwordFile: String?
    var offer = Offer.auto
    var sessions = SessionTable.Limits()
  }

  struct CacheSettings: Codable, Equatable, Sendable {
    /// Whether a shared cache is in front of the server.
    var isShared = false
    /// URLs of caches that receive purge requests.
    var purgeURLs: [String] = []
    /// The file of the key that servers and caches share; nil for a file in the library.
    var keyFile: String?
    /// Seconds that tiles without a generation in their URL may be cached.
    var tileMaxAge = 0
  }

  struct LogSettings: Codable, Equatable, Sendable {
    var style = AccessLog.Style.none
    /// The file of the access log; nil for stderr.
    var file: String?
    var auditFile: String?
    var sendsTimings = false
  }
}

/// Values that follow from several settings.
extension ServerConfiguration {
  /// Whether uploads of any type could be received.
  var takesUploads: Bool { changes.isWritable && (uploads.folder != nil || !library.isBucket) }

  /// The folder that receives uploads.
  var uploadRoot: String { uploads.folder ?? library.location }

  /// The limits of uploads; nil if uploads are refused.
  var uploadLimits: UploadLimits? {
    takesUploads && !uploads.limits.kinds.isEmpty ? uploads.limits : nil
  }

  /// The reason for which a writable server refuses uploads; nil if it accepts them.
  var uploadRefusal: String? {
    guard changes.isWritable, uploadLimits == nil else { return nil }
    return takesUploads ? "--upload-types accepts no type" : "--upload-dir is not given"
  }

  /// A warning about options that are valid and risky; nil if no option is.
  var advice: String? {
    guard caches.isShared, !network.hasBaseURL else { return nil }
    return
      "without --base-url, URLs in responses contain the Host header of the client, and a shared cache "
      + "serves them to others"
  }

  /// Returns the addresses to listen on besides inherited sockets.
  func hosts(besides sockets: [InheritedSocket.Place]) -> [String] {
    // The host and port of a systemd unit are for starts without sockets.
    sockets.isEmpty && !network.listensOnPathsOnly ? network.hosts : []
  }

  /// Returns the access rules, without secrets, for a server with inherited sockets.
  func access(sockets: [InheritedSocket.Place]) -> TileServerConfiguration {
    var access = TileServerConfiguration()
    access.isWritable = changes.isWritable
    access.keepsDeleted = changes.keepsDeleted
    access.sessions = spaces.sessions
    // A client of a Unix socket is a proxy.
    let isLocal = hosts(besides: sockets).isEmpty && sockets.allSatisfy { $0.address == nil }
    access.proxies =
      network.trustedProxies?.value
      ?? (network.hasBaseURL ? .local : isLocal ? TrustedProxies("unix") : nil) ?? .none
    access.readsForwardedBase = network.readsForwardedBase
    let names = AllowedHosts(own: ownNames)
    access.hosts = network.allowedHosts?.value.adding(names) ?? names
    access.origins = network.allowedOrigins?.value ?? .any
    access.offersOriginals = changes.publicOriginals
    access.frames = network.frameAncestors?.value
    access.tileMaxAge = caches.tileMaxAge
    access.hidesMetrics = network.metrics != nil
    access.sendsTimings = logs.sendsTimings
    return access
  }

  /// The names of this server: of its listeners, its public URL and its machine.
  private var ownNames: [String] {
    var names = network.hosts
    if let host = network.baseURL.flatMap(URL.init)?.host { names.append(host) }
    var text = [CChar](repeating: 0, count: 256)
    if gethostname(&text, text.count - 1) == 0 {
      let name = text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
      let first = String(name.prefix { $0 != "." })
      names += [name, first, first + ".local"]
    }
    return names
  }
}

extension InheritedSocket.Place {
  /// The address; nil for a Unix socket.
  var address: ServerConfiguration.Endpoint? {
    if case .address(let host, let port) = self { .init(host: host, port: port) } else { nil }
  }

  /// The path of a Unix socket; nil for an address.
  var path: String? {
    if case .path(let path) = self { path } else { nil }
  }
}
