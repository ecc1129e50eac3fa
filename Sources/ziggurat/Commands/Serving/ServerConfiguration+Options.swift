import Foundation
import TileStorage
import ZigguratHTTPServer
import ZigguratObjectStore
import ZigguratTileServing
import ZigguratUploading

extension ServerConfiguration {
  /// Reads all options and checks them against each other.
  ///
  /// - Parameters:
  ///   - sockets: the places of sockets that systemd has opened.
  ///   - environment: the environment of the process, which names the folder of caches.
  /// - Throws: all errors together: those of `arguments`, invalid values and contradictions.
  init(
    _ arguments: Arguments, sockets: [InheritedSocket.Place] = [], environment: [String: String]
  ) throws(UsageError) {
    var reader = OptionReader(arguments)
    let location = reader.attempt { given throws(UsageError) in try given.onlyOperand("library folder") }
    self.init(library: LibrarySettings(location ?? "", &reader, environment))
    network = NetworkSettings(&reader)
    pages = PageSettings(&reader)
    changes = ChangeSettings(&reader)
    uploads = UploadSettings(&reader)
    spaces = SpaceSettings(&reader)
    caches = CacheSettings(&reader)
    readRendering(&reader)
    readLimits(&reader)
    logs = LogSettings(&reader)
    reader.add(contradictions(arguments, sockets: sockets))
    if let error = UsageError(reader.errors) { throw error }
  }

  private mutating func readRendering(_ reader: inout OptionReader) {
    rendering.threads = ProcessInfo.processInfo.activeProcessorCount
    reader.set(&rendering.threads, to: "threads", in: 1...256)
    reader.set(&rendering.queue, to: "render-queue", in: 1...100_000)
    reader.set(&rendering.pixels, to: "max-pixels", in: 10_000...1_000_000_000)
    reader.set(&rendering.cacheBytes, to: "cache-size", in: 0...1 << 40)
    var timeout = Int(rendering.timeout)
    reader.set(&timeout, to: "render-timeout", in: 1...3600)
    rendering.timeout = Double(timeout)
  }

  private mutating func readLimits(_ reader: inout OptionReader) {
    reader.set(&limits.headerSize, to: "max-header-size", in: 2 << 10...1 << 20)
    limits.urlLength = limits.headerSize / 2
    reader.set(&limits.connections, to: "max-connections", in: 1...1_000_000)
    reader.set(&limits.connectionsPerAddress, to: "max-connections-per-address", in: 1...1_000_000)
    let seconds = 1...86_400
    reader.set(&limits.requestDeadline, to: "request-timeout", in: seconds)
    reader.set(&limits.answerDeadline, to: "response-timeout", in: seconds)
    reader.set(&limits.idleTimeout, to: "idle-timeout", in: seconds)
  }
}

extension ServerConfiguration.LibrarySettings {
  fileprivate init(_ operand: String, _ reader: inout OptionReader, _ environment: [String: String]) {
    self.init(location: operand)
    reader.set(&objectCacheSize, to: "object-cache-size", in: 1 << 20...1 << 40)
    catalog = reader.string("catalog").map(CatalogURL.init)
    advertiseURL = reader.attempt { given throws(UsageError) in try ServerURL.read("advertise-url", given) }
    guard reader.flag("build") else { return }
    pictures = operand
    isInCache = reader.string("library") == nil
    // Without an operand there is one error, not several.
    guard !operand.isEmpty else { return }
    location =
      reader.attempt { given throws(UsageError) in
        try Self.folderOfBuild(given, pictures: operand, environment)
      } ?? operand
  }

  /// Returns the folder for the archives of `--build`.
  private static func folderOfBuild(
    _ arguments: Arguments, pictures: String, _ environment: [String: String]
  ) throws(UsageError) -> String {
    var status = stat()
    guard stat(pictures, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw .requires("--build", "a folder of images ('\(pictures)' is not a folder)")
    }
    guard let folder = arguments.string("library") ?? ArchiveCacheFolder.path(of: pictures, environment)
    else {
      throw .requires("--build", "--library DIR (HOME is not set, so there is no folder for a cache)")
    }
    var other = stat()
    if stat(folder, &other) == 0, other.st_dev == status.st_dev, other.st_ino == status.st_ino {
      throw arguments.invalid("library", expected: "another folder than that of the images")
    }
    return folder
  }
}

extension ServerConfiguration.NetworkSettings {
  fileprivate init(_ reader: inout OptionReader) {
    self.init()
    let isAddressGiven = reader.string("host") != nil || reader.string("port") != nil
    listensOnPathsOnly = reader.string("listen") != nil && !isAddressGiven
    var seen: Set<String> = []
    hosts =
      reader.list("host", expected: "different addresses with commas between") { host in
        seen.insert(host).inserted ? host : nil
      } ?? hosts
    reader.set(&port, to: "port", in: 0...65535)
    paths =
      reader.list("listen", expected: "unix:PATH, several with commas between") { text in
        text.hasPrefix("unix:") && text.count > 5 ? String(text.dropFirst(5)) : nil
      } ?? []
    metrics = reader.value(
      "metrics-listen", expected: "ADDRESS:PORT, such as 127.0.0.1:8079",
      ServerConfiguration.Endpoint.init(_:))
    readsForwardedBase = reader.string("base-url") == "auto"
    if !readsForwardedBase {
      baseURL = reader.attempt { given throws(UsageError) in try ServerURL.read("base-url", given) }
    }
    trustedProxies = reader.value(
      "trusted-proxy",
      expected: "addresses and ranges with commas between, as 10.0.0.0/8,2001:db8::/32, or unix or none",
      TextValue.init(_:))
    allowedHosts = reader.value(
      "allow-host", expected: "names with commas between, as images.example.org,*.example.org, or *",
      TextValue.init(_:))
    allowedOrigins = reader.value(
      "allow-origin", expected: "origins with commas between, as https://example.org:8443, or * or none",
      TextValue.init(_:))
    frameAncestors = reader.value(
      "frame-ancestors",
      expected: "self or sites with commas between, as https://*.example.org, or * or none",
      TextValue.init(_:))
  }
}

extension ServerConfiguration.PageSettings {
  fileprivate init(_ reader: inout OptionReader) {
    self.init()
    webroot = reader.string("webroot")
    let provider = reader.attempt { given throws(UsageError) in try Self.provider(given) }
    identity = SiteIdentity(name: nil, provider: provider) ?? identity
    identity =
      reader.value("site-name", expected: "a line of at most 200 bytes") {
        SiteIdentity(name: $0, provider: provider)
      } ?? identity
  }

  private static func provider(_ arguments: Arguments) throws(UsageError) -> Provider? {
    guard let text = arguments.string("provider") else { return nil }
    if let provider = Provider(line: text) { return provider }
    // A device may have no end: one byte more than a provider may have is read.
    guard let file = try? FileHandle(forReadingAtPath: text)?.read(upToCount: 65_537) else {
      throw .invalid(
        Output.oneLine(text), for: arguments.spelled("provider"),
        expected: "'NAME <https://…>', or a file with an IIIF Agent in JSON")
    }
    do throws(Provider.ValidationError) { return try Provider(json: Array(file)) } catch {
      throw .outside("\(arguments.spelled("provider")) \(Output.oneLine(text))", error.description)
    }
  }
}

extension ServerConfiguration.ChangeSettings {
  fileprivate init(_ reader: inout OptionReader) {
    self.init()
    isWritable = reader.flag("writable")
    tokenFile = reader.string("token-file")
    reader.set(&keepsDeleted, to: "keep-deleted", in: 0...315_360_000)
    publicOriginals = reader.flag("public-originals")
  }
}

extension ServerConfiguration.UploadSettings {
  fileprivate init(_ reader: inout OptionReader) {
    self.init()
    folder = reader.string("upload-dir")
    reader.set(&limits.bytes, to: "max-upload-size", in: 1 << 20...1 << 42)
    reader.set(&limits.pixels, to: "max-upload-megapixels", in: 1_000_000...1_000_000_000_000)
    limits.keepsSources = reader.flag("keep-originals")
    let all = limits.kinds
    let expected = "all, none, or some of \(ServeOptions.uploadTypes)"
    limits.kinds =
      reader.value("upload-types", expected: expected) { (text) -> Set<ImageFormat>? in
        if text == "all" { return all }
        if text == "none" { return [] }
        let kinds = text.split(separator: ",").map { type in
          ImageFormat.uploads.first { $0.rawValue == type }
        }
        return kinds.isEmpty || kinds.contains(nil) ? nil : Set(kinds.compactMap { $0 })
      } ?? all
  }
}

extension ServerConfiguration.SpaceSettings {
  fileprivate init(_ reader: inout OptionReader) {
    self.init()
    isServedAlone = reader.flag("space")
    passwordFile = reader.string("password-file")
    offer =
      reader.value("private-spaces", expected: "yes, no or auto", Offer.init(rawValue:)) ?? offer
    reader.set(&sessions.idle, to: "session-idle", in: 1...86_400)
    reader.set(&sessions.absolute, to: "session-max-age", in: 1...604_800)
  }
}

extension ServerConfiguration.CacheSettings {
  fileprivate init(_ reader: inout OptionReader) {
    self.init()
    isShared = reader.flag("shared-cache") || reader.string("purge-url") != nil
    purgeURLs =
      reader.list("purge-url", expected: "URLs such as http://127.0.0.1:6081/, several with commas between") {
        PurgeClient($0, key: "") == nil ? nil : $0
      } ?? []
    keyFile = reader.string("purge-key-file")
    reader.set(&tileMaxAge, to: "tile-max-age", in: 0...31_536_000)
  }
}

extension ServerConfiguration.LogSettings {
  fileprivate init(_ reader: inout OptionReader) {
    self.init()
    style =
      reader.value("log", expected: "text, json or none", AccessLog.Style.init(rawValue:)) ?? style
    file = reader.string("log-file")
    auditFile = reader.string("audit-log")
    sendsTimings = reader.flag("server-timing")
  }
}
