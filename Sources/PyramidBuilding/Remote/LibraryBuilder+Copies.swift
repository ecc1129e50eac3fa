import TileStorage
import ZigguratFiles

/// A remote source, ready to be built.
enum SourceCopy: Sendable {
  /// A copy was not necessary.
  case settled(LibraryBuilder.Outcome)
  /// The source with the paths of its copies, which exist as long as the temporary files.
  case copied(SourceScan.Source, [TemporaryFile])
}

extension LibraryBuilder {
  /// Copies a source to this machine.
  ///
  /// - Parameter always: whether to copy a source even if its archive is current by the digest cache.
  func copy(of source: SourceScan.Source, always: Bool) -> Result<SourceCopy, BuildError> {
    do throws(BuildError) {
      guard let remote, let file = source.remote else {
        throw BuildError(source.path, "this command does not read sources in an object store")
      }
      if !always, !force, let known = failures?.failure(of: source) { throw known }
      var local = SourceScan.Source(
        path: "", id: source.id, folio: source.folio, name: file.name,
        root: source.root)
      var files: [TemporaryFile] = []
      if let sidecar = source.sidecar {
        let metadata = try copy(sidecar, of: source, remote)
        local.sidecar = RemoteFile(path: Self.path(metadata), etag: sidecar.etag, bytes: sidecar.bytes)
        local.sidecar?.address = sidecar.path
        files.append(metadata)
      }
      if !always, let digest = ledger?.digest(of: file), !force, rebuildList == nil,
        gone?.former(of: source.id) == nil,
        let record = record(of: source), record.sourceDigest == digest, record.folio == source.folio,
        record.sidecarDigest == (try SourceSidecar(of: local))?.digest
      {
        if let refused = try refused(source, digest) { return .success(.settled(refused)) }
        return .success(.settled(unchanged(record)))
      }
      let picture = try copy(file, of: source, remote)
      var copied = SourceScan.Source(
        path: Self.path(picture), id: source.id, folio: source.folio, name: local.name, root: source.root)
      copied.remote = file
      copied.sidecar = local.sidecar
      return .success(.copied(copied, files + [picture]))
    } catch { return .failure(error) }
  }

  private func copy(
    _ file: RemoteFile, of source: SourceScan.Source, _ remote: any RemoteSources
  ) throws(BuildError) -> TemporaryFile {
    do throws(StorageError) {
      if !isCancelled(), let copy = try remote.copy(file, isCancelled) { return copy }
    } catch { throw BuildError(source.path, error.reason, BuildError.Kind(error, isOfSource: true)) }
    throw .interrupted
  }

  private static func path(_ file: TemporaryFile) -> String { "\(SourceNeeds.nameless)\(file.descriptor)" }
}

extension LibraryBuilder.Outcome {
  /// Returns the outcome with the source in place of the built copy.
  func attributed(of source: SourceScan.Source, copiedTo path: String) -> LibraryBuilder.Outcome {
    func attributed(_ error: BuildError) -> BuildError {
      error.kind == .cancelled
        ? error : error.about(source.path, error.reason.replacing(path, with: source.path))
    }
    return switch self {
    case .failed(let error): .failed(attributed(error))
    case .refused(let error): .refused(attributed(error))
    case .built, .unchanged, .outdated, .metadataUpdated, .wouldUpdateMetadata, .moved, .wouldMove,
      .wouldBuild, .withdrawn,
      .wouldWithdraw:
      self
    }
  }
}
