import Foundation
import Glibc
import Synchronization
package import TileStorage
import ZigguratFiles
import ZigguratImaging

/// Images that earlier builds could not build. They are not tried again until the source, the program or the options
/// change.
package final class KnownFailures: Sendable {
  fileprivate struct Key: Hashable {
    let path: String
    let id: ImageID
  }

  private struct State {
    var records: [Key: FailureRecord] = [:]
    /// Records that are new or have changed, and those that no longer apply.
    var changed: Set<Key> = []
    var removed: [Key: FailureRecord] = [:]
    /// Digests of the sources in work, by path.
    var digests: [String: String] = [:]
  }

  private let builder: String
  private let state: Mutex<State>

  /// - Parameters:
  ///   - records: of earlier builds.
  ///   - builder: see `builder(_:memoryLimit:)`.
  package init(_ records: [FailureRecord], builder: String) {
    self.builder = builder
    var state = State()
    for record in records { state.records[Key(path: record.path, id: record.id)] = record }
    self.state = Mutex(state)
  }

  /// Returns a key of everything that may affect whether a source can be built: the program, libvips, options and
  /// limits.
  package static func builder(_ builder: LibraryBuilder, memoryLimit: Int) -> String {
    var status = stat()
    _ = stat("/proc/self/exe", &status)
    let metadata =
      [
        "\(status.st_size) \(status.st_mtim.tv_sec)", Vips.version,
        builder.options.summary(ofSource: "slide.pdf"),
        "\(builder.options)", "\(builder.imageTimeout)", "\(memoryLimit >> 28)",
      ] + (builder.pdfPassword == nil ? [] : ["with a password"])
    return String(Array(metadata.joined(separator: "\n").utf8).withUnsafeBytes { Digest.of($0) }, radix: 16)
  }

  // MARK: Asking

  /// The failure of an image whose source has not changed since; nil if it is to be built.
  func failure(of image: SourceScan.Source) -> BuildError? {
    let key = Key(image)
    guard let record = state.withLock({ $0.records[key] }), record.builder == builder,
      !record.version.isEmpty,
      record.version == Self.version(of: image, mustBeSettled: false)
    else { return nil }
    return error(record)
  }

  /// The same of a source whose content is known. A file that was only touched or copied has not changed.
  func failure(of image: SourceScan.Source, digest: String) -> BuildError? {
    let key = Key(image)
    let record = state.withLock { state -> FailureRecord? in
      state.digests[key.path] = digest
      guard var record = state.records[key], record.builder == builder, record.digest == digest else {
        return nil
      }
      let version = Self.version(of: image, mustBeSettled: true)
      if record.version != version {
        record.version = version
        state.records[key] = record
        state.changed.insert(key)
      }
      return record
    }
    return record.map(error)
  }

  private func error(_ record: FailureRecord) -> BuildError {
    let date = Date(timeIntervalSince1970: TimeInterval(record.time)).formatted(.iso8601.year().month().day())
    var error = BuildError(
      record.path, "\(record.reason) (known since \(date); --force tries it again)")
    error.knownSince = record.time
    return error
  }

  // MARK: Reporting

  /// Remembers how an image came out.
  package func add(_ image: SourceScan.Source, _ outcome: LibraryBuilder.Outcome) {
    let key = Key(image)
    guard case .failed(let error) = outcome else {
      state.withLock { state in
        guard let record = state.records.removeValue(forKey: key) else { return }
        state.removed[key] = record
        state.changed.remove(key)
      }
      return
    }
    // An error in another file, such as a sidecar, may disappear without a change of the source.
    guard !error.isTemporary, !error.mayBeOfMachine, error.kind != .cancelled, error.knownSince == nil,
      error.source == image.path || error.source == key.path
    else { return }
    let version = Self.version(of: image, mustBeSettled: true)
    state.withLock { state in
      let digest = state.digests[key.path] ?? ""
      guard !version.isEmpty || !digest.isEmpty else { return }
      state.records[key] = FailureRecord(
        id: image.id, path: key.path, version: version, digest: digest, builder: builder,
        reason: error.reason,
        time: Int(time(nil)))
      state.changed.insert(key)
    }
  }

  /// To be called when all images of a source have been reported.
  func end(_ source: SourceScan.Source) { state.withLock { $0.digests[Key(source).path] = nil } }

  /// The records to write and those to remove, each once.
  package func takeChanges() -> (changed: [FailureRecord], removed: [FailureRecord]) {
    state.withLock { state in
      // Files that are gone fail no more.
      for (key, record) in state.records where key.path.hasPrefix("/") && access(key.path, F_OK) != 0 {
        state.removed[key] = record
        state.records[key] = nil
        state.changed.remove(key)
      }
      defer { (state.changed, state.removed) = ([], [:]) }
      return (state.changed.compactMap { state.records[$0] }, Array(state.removed.values))
    }
  }

  /// Differs whenever the file changes; empty if there is no file.
  /// - Parameter mustBeSettled: whether it is also empty if the file has just changed: clocks of file systems are as
  ///   coarse as two seconds.
  private static func version(of image: SourceScan.Source, mustBeSettled: Bool) -> String {
    if let remote = image.remote { return "\(remote.etag) \(remote.bytes)" }
    var status = stat()
    guard stat(image.path, &status) == 0 else { return "" }
    let changed = max(status.st_mtim.tv_sec, status.st_ctim.tv_sec)
    if mustBeSettled, time(nil) - changed < 3 { return "" }
    return "\(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec) "
      + "\(status.st_ctim.tv_sec).\(status.st_ctim.tv_nsec)"
  }
}

extension KnownFailures.Key {
  init(_ image: SourceScan.Source) { self.init(path: image.remote?.path ?? image.path, id: image.id) }
}
