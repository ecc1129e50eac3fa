import Glibc
import ZigguratHTTPServer
import ZigguratImageLibrary

extension ServerConfiguration {
  /// Returns an error for each combination of options that is invalid.
  ///
  /// - Parameters:
  ///   - arguments: the arguments, which know how each option was given.
  ///   - sockets: the places of sockets that systemd has opened.
  func contradictions(_ arguments: Arguments, sockets: [InheritedSocket.Place]) -> [UsageError] {
    var errors: [UsageError] = []
    if library.pictures != nil {
      if changes.isWritable { errors.append(.conflict("--build", "--writable")) }
      if spaces.isServedAlone { errors.append(.conflict("--build", "--space")) }
    }
    // Without an operand there is one error, not several.
    if !library.location.isEmpty { errors += libraryContradictions(arguments) }
    if spaces.isServedAlone { errors += spaceContradictions(arguments, sockets) }
    if !changes.isWritable, changes.tokenFile != nil {
      errors.append(.requires(arguments.spelled("token-file"), "--writable"))
    }
    if !caches.isShared, caches.keyFile != nil {
      errors.append(.requires(arguments.spelled("purge-key-file"), "--shared-cache or --purge-url"))
    }
    if logs.file != nil, arguments.string("log") ?? "none" == "none" {
      errors.append(.requires(arguments.spelled("log-file"), "--log text or --log json"))
    }
    return errors
  }

  /// Returns errors about options that the kind of the library excludes.
  private func libraryContradictions(_ arguments: Arguments) -> [UsageError] {
    var errors: [UsageError] = []
    let isArchive = SingleArchive(path: library.location) != nil
    if changes.isWritable, !library.isShared, library.isBucket || isArchive {
      let what = library.isBucket ? "a library in an object store without --catalog" : "one archive"
      errors.append(.conflict(arguments.spelled("writable"), "\(what): \(library.location)"))
    }
    if let folder = uploads.folder {
      var status = stat()
      if !library.isShared {
        errors.append(
          .requires(arguments.spelled("upload-dir"), "a library in an object store and --catalog"))
      } else if stat(folder, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR {
        errors.append(arguments.invalid("upload-dir", expected: "an existing folder"))
      }
      if library.isShared, uploads.limits.keepsSources {
        errors.append(.conflict(arguments.spelled("keep-originals"), "a library in an object store"))
      }
    }
    if let catalog = library.catalog {
      do throws(UsageError) { try catalog.check() } catch { errors.append(error) }
      if spaces.isServedAlone || !library.isBucket {
        errors.append(
          .requires("--catalog", "a library in an object store; others have a catalog of their own"))
      }
    }
    // Garbage collection does not know deletions of this server, and may remove their archives after two days.
    if library.isBucket, changes.keepsDeleted > 48 * 3600 {
      errors.append(
        arguments.invalid(
          "keep-deleted",
          expected: "at most 48 hours for an object store, where 'reindex --gc' removes archives"))
    }
    // Servers of one bucket have no common folder in which all of them can write.
    if caches.isShared, caches.keyFile == nil, library.isBucket || isArchive {
      errors.append(Self.requiresKeyFile(arguments.spelled("shared-cache")))
    }
    return errors
  }

  /// Returns the error about a shared cache of a library that cannot contain the key.
  ///
  /// - Parameter option: `--shared-cache`, as it was given.
  static func requiresKeyFile(_ option: String = "--shared-cache") -> UsageError {
    .requires(
      option,
      "--purge-key-file unless a library's folder is served ('openssl rand -hex 32' prints a key)")
  }

  /// Returns errors about options that a private space, served alone, excludes.
  private func spaceContradictions(
    _ arguments: Arguments, _ sockets: [InheritedSocket.Place]
  ) -> [UsageError] {
    var others: [String] = []
    let hosts = network.hosts + sockets.compactMap { $0.address?.host }
    if let host = hosts.first(where: { !["127.0.0.1", "::1", "localhost"].contains($0) }) {
      let what = network.hosts.contains(host) ? "--host" : "a socket of systemd at"
      others.append("\(what) \(host), which other machines can reach")
    }
    // Logs contain the names of images.
    if logs.style != .none { others.append("--log") }
    if logs.auditFile != nil { others.append(arguments.spelled("audit-log")) }
    if spaces.offer == .yes { others.append(arguments.spelled("private-spaces")) }
    if changes.isWritable { others.append("--writable") }
    if caches.isShared { others.append("--shared-cache") }
    if library.isBucket { others.append("a library in an object store") }
    return others.map { .conflict("--space", $0) }
  }
}
