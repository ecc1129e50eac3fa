import Glibc
import TileStorage
import ZigguratAdapters
import ZigguratFiles
import ZigguratHTTPServer
import ZigguratPrivateSpaces
import ZigguratTileServing
import ZigguratUploading

/// The state of the process that a server needs before its first thread: the sandbox, secrets, signals and limits.
struct ServerProcess {
  let sockets: [InheritedSocket]
  /// The private space that is served alone.
  let space: PrivateSpace?
  /// Requests to remove the keys of private spaces from memory.
  let lockRequests: LockRequests
  /// The access rules, with the token.
  let access: TileServerConfiguration
  /// A token that was made now, to be shown once; nil if no token is needed, or if it is from a file.
  let newToken: String?
  /// The key of `--purge-key-file`.
  let purgeKey: PurgeKey?
  let signals: ServerSignals
  /// The maximum number of open archives.
  let openArchives: Int
  /// The limits of the configuration, reduced to the file descriptors of the process.
  let limits: HTTPServer.Limits

  /// Prepares the process.
  ///
  /// - Throws: a ``UsageError`` with all errors of secret files, a `StorageError` of the audit log, or a
  ///   ``ReportedFailure``.
  init(_ configuration: ServerConfiguration, sockets: [InheritedSocket]) throws {
    self.sockets = sockets
    // Sandboxed processes start with a copy of this process's memory, so that no secret may be in it yet.
    let builds = configuration.library.pictures != nil
    if let code = ProgramWorkers.start(
      takesUncommon: builds, builds: builds || configuration.takesUploads)
    {
      throw ReportedFailure(exitCode: code)
    }
    Malloc.limitArenas()
    let place = configuration.library.location
    let settings = configuration.spaces
    // A space may be created at any time.
    if settings.isServedAlone || settings.offer != .no { SpaceUnlocker.forbidTemporaryFiles() }
    space =
      settings.isServedAlone
      ? try SpaceUnlocker.open(place, passwordFile: settings.passwordFile) : nil
    var access = configuration.access(sockets: sockets.map(\.place))
    let spaces = PrivateSpaces(library: place)
    if settings.offer != .no, !settings.isServedAlone {
      access.spaces = LibrarySpaces(
        spaces: spaces, uploads: UploadFolder.path(library: place), isAlwaysOffered: settings.offer == .yes)
      // Before the first answer.
      _ = access.spaces?.isOffered
    }
    (newToken, purgeKey) = try Self.readSecrets(configuration, &access)
    access.audit = try configuration.logs.auditFile.map { (path) throws(StorageError) in
      try AuditLog(path: path) { Output.error($0) }
    }
    self.access = access
    lockRequests = spaces.watchLocking()
    // All threads that start later inherit the mask of signals.
    signals = ServerSignals()
    signal(SIGPIPE, SIG_IGN)
    // A file that may not grow is like a full disk, and no reason to end.
    signal(SIGXFSZ, SIG_IGN)
    MappedFile.surviveCutShortFiles()
    let descriptors = Self.raiseDescriptorLimit()
    openArchives = min(512, descriptors / 4)
    // Event loops, databases, sandboxed processes and tiles in transit need descriptors, too.
    let maxConnections = descriptors - openArchives - descriptors / 8
    var limits = configuration.limits
    if maxConnections < limits.connections {
      limits.connections = maxConnections
      Output.note(
        "connections are limited to \(maxConnections) and open archives to \(openArchives) by the limit of file "
          + "descriptors (ulimit -n)")
    }
    self.limits = limits
    DescriptorRelief.shared.report { Output.error($0) }
  }

  /// Reads the files of secrets, and makes a token if there is no file of it.
  private static func readSecrets(
    _ configuration: ServerConfiguration, _ access: inout TileServerConfiguration
  ) throws(UsageError) -> (newToken: String?, purgeKey: PurgeKey?) {
    var errors: [UsageError] = []
    var newToken: String?
    var purgeKey: PurgeKey?
    if let path = configuration.changes.tokenFile {
      do throws(UsageError) { access.token = try SecretFile.token(path) } catch { errors.append(error) }
    } else if configuration.changes.isWritable {
      let (token, text) = AccessToken.make()
      access.token = token
      newToken = text
    }
    if let path = configuration.caches.keyFile {
      do throws(UsageError) { purgeKey = try SecretFile.edgeKey(path) } catch { errors.append(error) }
    }
    if let error = UsageError(errors) { throw error }
    if let path = configuration.changes.tokenFile, SecretFile.isOpenToAll(path) {
      Output.hold("\(path) can be read by every user of this machine: chmod 600 \(path)")
    }
    return (newToken, purgeKey)
  }

  /// Raises the limit of descriptors, since connections and open archives need one each and the usual soft limit is
  /// 1024.
  ///
  /// - Returns: the number of descriptors for connections, archives and their needs, without those of the program
  ///   itself.
  private static func raiseDescriptorLimit() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return max(64, Int(clamping: limit.rlim_cur) - 64)
  }
}
