import Foundation
import TileStorage
import ZigguratFiles
import ZigguratHTTPServer
import ZigguratImageLibrary
import ZigguratIntake
import ZigguratObjectStore
import ZigguratPrivateSpaces
import ZigguratThreads
import ZigguratTileServing
import ZigguratUploading

enum ServeCommand: Command {
  static let name = "serve"
  static let usage = "DIR|ARCHIVE|s3://BUCKET/PREFIX"
  static let summary = "Serve a library over HTTP, to viewers and to programs."
  static let options: [Option] = [
    [ConfigFile.option], networkOptions, pagesOptions, spacesOptions, logsOptions, renderingOptions,
    limitsOptions, removedOptions, ServedLibrary.options, ServeBuild.options, SiteOptions.options,
    ListenOptions.options,
    DoorOptions.options, WriteAccess.options, UploadOptions.options,
  ].flatMap { $0 }

  private static let networkOptions = [
    Option(
      "host", "ADDRESS,…", default: "127.0.0.1", isList: true, isCommon: true,
      help: "Addresses to listen on; 0.0.0.0,:: for all"),
    Option("port", "N", default: "8080", isCommon: true, help: "Port to listen on; 0 picks a free one"),
    Option(
      "base-url", "URL", isCommon: true,
      help: "Public URL of the server behind a proxy; auto takes it from the headers of trusted proxies"),
    Option(
      "threads", "N", default: "all cores",
      help: "Number of event loops, and of threads that render images; twice as many render if some are slow"),
  ].grouped(.network)

  private static let pagesOptions = [
    Option(
      "webroot", "DIR", default: "installed with the program", was: "public",
      help: "Folder of the viewer's pages and scripts")
  ].grouped(.pages)

  private static let spacesOptions = [
    Option("space", help: "Serve the private space that a password opens, on this machine only"),
    PasswordPrompt.optionOfSpace,
    Option(
      "private-spaces", "MODE", default: "auto", was: "spaces",
      help: "Offer visitors to unlock private spaces: yes, no, or auto: once the library has one"),
    Option("session-idle", .seconds, default: "30m", help: "Time after which an unused session ends"),
    Option(
      "session-max-age", .seconds, default: "12h", was: "session-longest",
      help: "Time after which any session ends"),
  ].grouped(.spaces)

  private static let logsOptions = [
    Option(
      "log", "FORMAT", default: "none", isCommon: true,
      help: "Access log on stderr, a line per response: text, json or none")
  ].grouped(.logs)

  private static let renderingOptions = [
    Option(
      "render-queue", "N", default: "64",
      help: "Maximum number of waiting renders; the client with most gets 503 beyond it"),
    Option(
      "render-timeout", .seconds, default: "30s",
      help: "Time after which an unfinished render is answered 503"),
    Option(
      "cache-size", .megabytes, default: "128MB", was: "cache-memory",
      help: "Memory for rendered images and decoded tiles"),
    Option(
      "max-pixels", .pixels, default: "50MP",
      help: "Maximum size of a rendered image; 0.55 of it for tif, 0.38 for gif"),
  ].grouped(.rendering)

  private static let limitsOptions = [
    Option(
      "max-header-size", .kilobytes, default: "8KB", was: "max-header",
      help: "Maximum size of a request's headers (else 431); the URL may have half of it (else 414)"),
    Option("max-connections", "N", default: "4096", help: "Maximum number of connections"),
    Option(
      "max-connections-per-address", "N", default: "1024",
      help:
        "Maximum number of connections of one address or IPv6 /64; behind a trusted proxy, of requests at a time"
    ),
    Option(
      "request-timeout", .seconds, default: "20s", help: "Time in which a client must send its request"),
    Option(
      "response-timeout", .seconds, default: "5m", was: "answer-timeout",
      help: "Time in which a client must read its response"),
    Option("idle-timeout", .seconds, default: "15s", help: "Time after which an idle connection is closed"),
  ].grouped(.limits)

  private static let removedOptions = [
    Option(removed: "render-threads", "N", because: "--threads also sets the number of threads that render"),
    Option(removed: "max-viewport-side", "N", was: "max-viewport", because: "the limit is 32768"),
    Option(
      removed: "max-url-length", "SIZE", was: "max-url", because: "the limit is half of --max-header-size"),
    Option(
      removed: "max-open-archives", "N", was: "open-archives",
      because: "the limit is 512, or less if the limit of file descriptors is low"),
    Option(removed: "max-uploads", "N", was: "upload-count", because: "the limit is 1000"),
    Option(
      removed: "upload-ttl", "TIME", was: "upload-expiry", because: "unfinished uploads are kept for 24 hours"
    ),
    Option(
      removed: "upload-history", "TIME", was: "upload-memory",
      because: "the status of finished uploads is kept for 7 days"),
  ]

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    let operand = try arguments.onlyOperand("library folder")
    let handed: [HandedSocket]
    do { handed = try HandedSocket.all(ProcessInfo.processInfo.environment) } catch {
      Output.error(error.description)
      return .someFailed
    }
    let build = try ServeBuild(arguments, pictures: operand)
    let folder = build?.library ?? operand
    try ServedLibrary.check(folder, arguments)
    try ListenOptions.check(arguments)
    let hosts = try hosts(arguments)
    let port = try arguments.int("port", in: 0...65535) ?? 8080
    let cores = ProcessInfo.processInfo.activeProcessorCount
    let threads = try arguments.int("threads", in: 1...256) ?? cores
    let storeMemory = try arguments.quantity("object-cache-size", in: 1 << 20...1 << 40) ?? 256 << 20
    let isForwarded = arguments.string("base-url") == "auto"
    let base = isForwarded ? "" : try ServerURL.read("base-url", arguments) ?? ""
    var rendering = RenderOptions()
    rendering.threads = threads
    rendering.queue = try arguments.int("render-queue", in: 1...100_000) ?? rendering.queue
    rendering.timeout =
      try arguments.quantity("render-timeout", in: 1...3600).map(Double.init) ?? rendering.timeout
    rendering.pixels = try arguments.quantity("max-pixels", in: 10_000...1_000_000_000) ?? rendering.pixels
    rendering.cacheBytes = try arguments.quantity("cache-size", in: 0...1 << 40) ?? rendering.cacheBytes
    var limits = try limits(arguments)
    let identity = try SiteOptions.read(arguments)
    let log =
      try arguments.value("log", expected: "text, json or none") { AccessLog.Style(rawValue: $0) }
      ?? AccessLog.Style.none
    let uploadFolder = UploadOptions.folder(folder, arguments)
    let takesUploads = try arguments.flag("writable") && uploadFolder != nil
    if let code = ProgramCells.start(takesUncommon: build != nil, builds: build != nil || takesUploads) {
      return code
    }
    HeapMemory.keepLittle()
    let isPrivate = try arguments.flag("space")
    var space: PrivateSpace?
    let gate = isPrivate ? Gate(isSecure: base.hasPrefix("https:")) : nil
    if isPrivate {
      let given = handed.compactMap { if case .address(let host, _) = $0.place { host } else { nil } }
      if let host = (hosts + given).first(where: { !["127.0.0.1", "::1", "localhost"].contains($0) }) {
        let what = hosts.contains(host) ? "--host" : "a socket of systemd at"
        throw .conflict("--space", "\(what) \(host), which other machines can reach")
      }
      // A log names images.
      guard log == .none else { throw .conflict("--space", "--log") }
      SpaceDoor.forbidTemporaryFiles()
      do { space = try SpaceDoor.open(folder, arguments) } catch { return error.exitCode }
    }
    var access = Access()
    access.sessions.idle = try arguments.quantity("session-idle", in: 1...86_400) ?? access.sessions.idle
    access.sessions.absolute =
      try arguments.quantity("session-max-age", in: 1...604_800) ?? access.sessions.absolute
    try DoorOptions.read(arguments, base: base, listening: hosts, into: &access)
    let places = try ListenOptions(arguments, hosts: hosts, handed: handed.map(\.place), into: &access)
    let spaces = PrivateSpaces(library: folder)
    let offer = try SpaceOffer(arguments)
    if offer == .always, isPrivate { throw .conflict("--space", arguments.spelled("private-spaces")) }
    if offer != .never, !isPrivate {
      // A space may be made at any time.
      SpaceDoor.forbidTemporaryFiles()
      access.spaces = LibrarySpaces(
        spaces: spaces, uploads: UploadFolder.path(library: folder), isAlwaysOffered: offer == .always)
      // Before the first answer.
      _ = access.spaces?.isOffered
    }
    let token = try WriteAccess.read(arguments, into: &access)
    let uploadLimits = takesUploads ? try UploadOptions.read(arguments) : nil
    if isPrivate, access.isWritable { throw .conflict("--space", "--writable") }
    // Nothing is written down about private images.
    if isPrivate, arguments.string("audit-log") != nil {
      throw .conflict("--space", arguments.spelled("audit-log"))
    }
    do { try DoorOptions.openAudit(arguments, into: &access) } catch {
      Output.error(error.description)
      return error.isTemporary ? .temporary : .someFailed
    }
    let locking = spaces.watchLocking()
    // Before any thread is made, so that none of them takes the signals.
    let signals = ServerSignals()
    signal(SIGPIPE, SIG_IGN)
    // A file that may not grow any more is like a full disk: no reason to end.
    signal(SIGXFSZ, SIG_IGN)
    MappedFile.surviveCutShortFiles()
    let descriptors = raiseDescriptorLimit()
    let mostOpen = min(512, descriptors / 4)
    // Besides connections and archives: event loops, databases, sandboxed processes, tiles on their way.
    let mostConnections = descriptors - mostOpen - descriptors / 8
    if mostConnections < limits.connections {
      limits.connections = mostConnections
      Output.note(
        "connections are limited to \(mostConnections) and open archives to \(mostOpen) by the limit of file "
          + "descriptors (ulimit -n)")
    }
    DescriptorRelief.shared.report { Output.error($0) }
    if let code = build?.run(signals) { return code }
    let viewer = arguments.string("webroot") ?? PublicFolder.find()
    let listener: HTTPServer
    let library: any ImageRepository
    let site: Site
    let uploads: Uploads?
    let bucket: ObjectLibrary?
    let edge: (caches: [EdgeCache], key: EdgeKey)?
    do {
      (library, bucket) = try ServedLibrary.open(
        folder, space, openLimit: mostOpen, storeMemory: storeMemory, arguments)
      edge = try ListenOptions.edge(arguments, of: library, at: folder)
      access.surrogateSeed = edge?.key.seed
      uploads = try uploadLimits.map { try Uploads(library: uploadFolder ?? folder, limits: $0) }
      site = try Site(
        library: library, publicFolder: viewer, baseURL: base,
        rendering: rendering, gate: gate, access: access,
        uploads: uploads, version: Ziggurat.version, identity: identity)
      listener = try HTTPServer(
        site: site, hosts: places.hosts, port: port, paths: places.paths, handed: handed,
        monitors: places.monitors,
        threads: threads, limits: limits, log: log, logFile: places.logFile,
        report: { Output.error($0) })
    } catch let error as StorageError {
      Output.error(error.description)
      return error.isTemporary ? .temporary : .someFailed
    } catch let error as UsageError {
      throw error
    } catch {
      Output.error("\(error)")
      return .someFailed
    }
    // Of a private space no image is named.
    if !isPrivate { library.faults.observe { Output.error($0) } }
    let purging = edge.map { EdgePurging($0.caches, $0.key.seed, of: library) }
    let upkeep = LibraryUpkeep(library, site, purging, access.spaces, isSilent: isPrivate)
    upkeep.start()
    let tiling = uploads.map { [root = uploadFolder ?? folder] uploads in
      let store = bucket?.storeOfUploads(scratch: "\(root)/archives")
      return UploadTiling(uploads, library: library, root: root, store: store, space: site.space)
    }
    tiling?.start()
    StartedThread.needed { [offered = access.spaces] in
      var seconds = 0
      while true {
        Thread.sleep(forTimeInterval: 1)
        seconds += 1
        site.keepSessions()
        // A space may have been made since.
        _ = offered?.isOffered
        if seconds % 10 == 0 { site.events.beat() }
        if seconds % 30 == 0 { HeapMemory.giveBack() }
        guard locking.isNew() else { continue }
        // Who serves nothing but a space ends with it.
        if isPrivate { kill(getpid(), SIGTERM) } else { site.lockSpaces() }
      }
    }
    upkeep.waitForCatalog()
    let doors = places.doors(port: listener.port)
    let outside = doors.lazy.compactMap { door in LocalAddress.find(host: door.host).map { ($0, door.port) } }
      .first
    let address = base.isEmpty ? outside.map { "http://\($0):\($1)" } : base
    site.localAddress.withLock { $0 = address.map { $0.hasSuffix("/") ? $0 : $0 + "/" } }
    let query = gate?.query ?? ""
    let addresses = doors.map { "http://\($0.host.contains(":") ? "[\($0.host)]" : $0.host):\($0.port)/" }
    Output.result(
      (addresses.map { $0 + query } + places.allPaths.map { "unix:\($0)" }).map { "listening on \($0)\n" }
        .joined())
    // No browser opens the address that stands for all addresses.
    let isWildcard = doors.first.map { ["0.0.0.0", "::"].contains($0.host) } ?? false
    let writable = isWildcard ? outside.map { "http://\($0):\($1)/" } : nil
    if let token { Output.note("write with \(writable ?? addresses.first ?? base + "/")#token=\(token)") }
    if let place = places.monitors, let port = listener.monitorPort {
      Output.note(
        "metrics on http://\(place.host.contains(":") ? "[\(place.host)]" : place.host):\(port)/metrics")
    }
    if !isPrivate {
      // Among lines for programs stands none for people.
      let isForPeople = log != .json || places.logFile != nil
      ServeStart.tell(
        library, folder, uploads: uploads == nil ? nil : uploadFolder ?? folder,
        uploadRefusal: uploads != nil
          ? nil : takesUploads ? "--upload-types accepts no type" : "--upload-dir is not given",
        isWritable: access.isWritable,
        viewer: viewer, tellsCount: isForPeople)
      if let advice = try ListenOptions.advice(arguments) { Output.note(advice) }
    }
    while signals.wait() == .renew {
      access.audit?.reopen()
      do { try listener.reopenLog() } catch { Output.error(error.description) }
      Output.note("SIGHUP: the library's folders are read again")
      library.readAgain()
    }
    signals.release()
    listener.stop(grace: 10)
    tiling?.stop()
    build?.stop()
    upkeep.stop()
    space?.wipeKeys()
    return .success
  }

  /// Whether visitors may unlock private spaces.
  private enum SpaceOffer {
    case never
    case always
    /// Once the library has a space.
    case ifThere

    init(_ arguments: Arguments) throws(UsageError) {
      switch arguments.string("private-spaces") ?? "auto" {
      case "auto": self = .ifThere
      case "yes": self = .always
      case "no": self = .never
      default: throw arguments.invalid("private-spaces", expected: "yes, no or auto")
      }
    }
  }

  private static func limits(_ arguments: Arguments) throws(UsageError) -> HTTPServer.Limits {
    var limits = HTTPServer.Limits()
    limits.headerSize = try arguments.quantity("max-header-size", in: 2 << 10...1 << 20) ?? limits.headerSize
    limits.urlLength = limits.headerSize / 2
    limits.connections = try arguments.int("max-connections", in: 1...1_000_000) ?? limits.connections
    limits.connectionsPerAddress =
      try arguments.int("max-connections-per-address", in: 1...1_000_000) ?? limits.connectionsPerAddress
    let seconds = 1...86_400
    limits.requestDeadline = try arguments.quantity("request-timeout", in: seconds) ?? limits.requestDeadline
    limits.answerDeadline = try arguments.quantity("response-timeout", in: seconds) ?? limits.answerDeadline
    limits.idleTimeout = try arguments.quantity("idle-timeout", in: seconds) ?? limits.idleTimeout
    return limits
  }

  /// Raises the limit of descriptors: connections and open archives take one each, and the usual soft limit of 1024 is
  /// below both.
  /// - Returns: those that there are for connections, archives and what they need, besides some for the program itself.
  private static func raiseDescriptorLimit() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return max(64, Int(clamping: limit.rlim_cur) - 64)
  }

  private static func hosts(_ arguments: Arguments) throws(UsageError) -> [String] {
    try arguments.value("host", expected: "different addresses with commas between") { text in
      let hosts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      return hosts.contains("") || Set(hosts).count < hosts.count ? nil : hosts
    } ?? ["127.0.0.1"]
  }
}
