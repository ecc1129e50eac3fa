import Files
import Foundation
import HTTPListening
import ImageLibrary
import Intake
import ObjectStore
import PrivateSpaces
import Threads
import TileServing
import TileStorage
import Uploading

enum ServeCommand: Command {
  static let name = "serve"
  static let usage = "DIR|ARCHIVE|s3://BUCKET/PREFIX"
  static let summary = "Serve a library over HTTP, to viewers and to programs."
  static let options =
    [
      Option("host", "127.0.0.1", help: "addresses to listen on, with commas between; 0.0.0.0,:: for all"),
      Option("port", "8080", help: "0 picks a free one"),
      Option("space", help: "serve the private space that a password opens, on this machine alone"),
      PasswordPrompt.optionOfSpace,
      Option(
        "spaces", "auto", help: "visitors may unlock private spaces: yes, no, or auto: once there are any"),
      Option("session-idle", "1800", help: "seconds until a session that is not used ends"),
      Option("session-longest", "43200", help: "seconds until any session ends"),
      WriteAccess.options[0], WriteAccess.options[1], WriteAccess.options[2],
      Option("public", "DIR", help: "the viewer's files (default: found beside the program)"),
      Option(
        "base-url", "URL|auto", help: "public URL in front of every path; auto: as trusted proxies state it"),
      Option(
        "log", "none",
        help: "a line on stderr per answer, with path, status and seconds: text, json or none"),
      Option("threads", "N", help: "event loops (default: all cores)"),
      Option(
        "render-threads", "N",
        help: "threads that render pictures, twice while some take long (default: all cores)"),
      Option(
        "render-queue", "64",
        help: "pictures that may wait; more are answered 503, of the client that has most"),
      Option("render-timeout", "30", help: "seconds until a picture must be made; later it is answered 503"),
      Option("cache-memory", "128", help: "MB of rendered pictures and decoded tiles"),
      Option("max-pixels", "50000000", help: "of a rendered picture; of a tif 0.55 of it, of a gif 0.38"),
      Option("max-viewport", "32768", help: "CSS pixels along a side of a viewport query's window"),
      Option("max-url", "4096", help: "bytes of a URL's path and query; longer ones are answered 414"),
      Option("max-header", "8", help: "KB of a request's headers together; larger ones are answered 431"),
      Option("max-connections", "4096", help: "in all"),
      Option(
        "max-connections-per-address", "1024",
        help: "of one address or IPv6 /64; behind a trusted proxy: requests at a time"),
      Option("request-timeout", "20", help: "seconds until a request must be whole"),
      Option("answer-timeout", "300", help: "seconds until its answer must be taken"),
      Option("idle-timeout", "15", help: "seconds that a connection may be idle"),
    ] + ServedLibrary.options + ServeBuild.options + SiteOptions.options + ListenOptions.options
    + DoorOptions.options
    + UploadOptions.options

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    let operand = try arguments.onlyOperand("the library's folder")
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
    let openLimit = try arguments.int("open-archives", in: 1...1_000_000) ?? 512
    let storeMemory = (try arguments.int("store-memory", in: 1...1_000_000) ?? 256) << 20
    let isForwarded = arguments.string("base-url") == "auto"
    let base = isForwarded ? "" : try ServerURL.read("base-url", arguments) ?? ""
    var rendering = RenderOptions()
    rendering.threads = try arguments.int("render-threads", in: 1...256) ?? cores
    rendering.queue = try arguments.int("render-queue", in: 1...100_000) ?? rendering.queue
    if let seconds = try arguments.int("render-timeout", in: 1...3600) { rendering.timeout = Double(seconds) }
    rendering.pixels = try arguments.int("max-pixels", in: 10_000...1_000_000_000) ?? rendering.pixels
    if let megabytes = try arguments.int("cache-memory", in: 0...1_000_000) {
      rendering.cacheBytes = megabytes << 20
    }
    var limits = try limits(arguments)
    let identity = try SiteOptions.read(arguments)
    let viewportSide = try arguments.int("max-viewport", in: 1...32768) ?? 32768
    let logName = arguments.string("log") ?? "none"
    guard let log = AccessLog.Style(rawValue: logName) else {
      throw UsageError("\(arguments.spelled("log")) is '\(logName)'; it takes text, json or none")
    }
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
        let what = hosts.contains(host) ? "--host" : "a socket that was handed over"
        throw UsageError("--space is served on this machine alone; \(what) is '\(host)'")
      }
      guard log == .none else { throw UsageError("--space and --log do not go together: a log names images") }
      SpaceDoor.forbidTemporaryFiles()
      do { space = try SpaceDoor.open(folder, arguments) } catch { return error.exitCode }
    }
    var access = Access()
    access.sessions.idle = try arguments.int("session-idle", in: 1...86_400) ?? access.sessions.idle
    access.sessions.absolute =
      try arguments.int("session-longest", in: 1...604_800) ?? access.sessions.absolute
    try DoorOptions.read(arguments, base: base, listening: hosts, into: &access)
    let places = try ListenOptions(arguments, hosts: hosts, handed: handed.map(\.place), into: &access)
    let spaces = PrivateSpaces(library: folder)
    let offer = try SpaceOffer(arguments)
    if offer == .always, isPrivate { throw UsageError("--space and --spaces do not go together") }
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
    if isPrivate, access.isWritable { throw UsageError("--space and --writable do not go together") }
    if isPrivate, arguments.string("audit") != nil {
      throw UsageError("--space and --audit do not go together: of private pictures nothing is written down")
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
    let mostOpen = min(openLimit, descriptors / 4)
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
    let viewer = arguments.string("public") ?? PublicFolder.find()
    let listener: HTTPListener
    let library: Library
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
        rendering: rendering, viewportSide: viewportSide, gate: gate, access: access,
        uploads: uploads, version: Ziggurat.version, identity: identity)
      listener = try HTTPListener(
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
    let upkeep = LibraryUpkeep(library, site, purging, isSilent: isPrivate)
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
    if let token { Output.note("write with \(addresses.first ?? base + "/")#token=\(token)") }
    if let place = places.monitors, let port = listener.monitorPort {
      Output.note(
        "metrics on http://\(place.host.contains(":") ? "[\(place.host)]" : place.host):\(port)/metrics")
    }
    if !isPrivate {
      // Among lines for programs stands none for people.
      let isForPeople = log != .json || places.logFile != nil
      ServeStart.tell(
        library, folder, uploads: uploads == nil ? nil : uploadFolder ?? folder,
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
      switch arguments.string("spaces") ?? "auto" {
      case "auto": self = .ifThere
      case "yes": self = .always
      case "no": self = .never
      case let other:
        throw UsageError("\(arguments.spelled("spaces")) is '\(other)'; it takes yes, no or auto")
      }
    }
  }

  private static func limits(_ arguments: Arguments) throws(UsageError) -> HTTPListener.Limits {
    var limits = HTTPListener.Limits()
    limits.urlLength = try arguments.int("max-url", in: 256...1 << 20) ?? limits.urlLength
    if let kilobytes = try arguments.int("max-header", in: 2...1024) { limits.headerSize = kilobytes << 10 }
    limits.connections = try arguments.int("max-connections", in: 1...1_000_000) ?? limits.connections
    limits.connectionsPerAddress =
      try arguments.int("max-connections-per-address", in: 1...1_000_000) ?? limits.connectionsPerAddress
    let seconds = 1...86_400
    limits.requestDeadline = try arguments.int("request-timeout", in: seconds) ?? limits.requestDeadline
    limits.answerDeadline = try arguments.int("answer-timeout", in: seconds) ?? limits.answerDeadline
    limits.idleTimeout = try arguments.int("idle-timeout", in: seconds) ?? limits.idleTimeout
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
    guard let text = arguments.string("host") else { return ["127.0.0.1"] }
    let hosts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard !hosts.contains(""), Set(hosts).count == hosts.count else {
      throw UsageError(
        "\(arguments.spelled("host")) is '\(text)'; it takes different addresses with commas between")
    }
    return hosts
  }
}
