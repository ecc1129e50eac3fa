import TileStorage
package import ZigguratFiles
import ZigguratImaging

/// A remote source, or its sidecar, as listed.
package struct RemoteFile: Hashable, Codable, Sendable {
  /// The address of the file, as `s3://bucket/key`.
  package let path: String
  /// The entity tag of this version.
  package let etag: String
  /// -1 if the size is unknown; such a file cannot be read.
  package let bytes: Int
  /// The original's address, if the path is that of a copy on this machine; nil for an original.
  var address: String?

  /// The last part of the path, by bytes: an accent that comes first makes another character of a slash.
  var name: String {
    let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) }
    return String(path[(start ?? path.startIndex)...])
  }

  package init(path: String, etag: String, bytes: Int) {
    self.path = path
    self.etag = etag
    self.bytes = bytes
  }
}

/// A storage of sources that are no files of this machine.
package protocol RemoteSources: Sendable {
  /// Whether an argument of a build means something there.
  func isMeant(by argument: String) -> Bool

  /// Returns the file with that address, or all files below it; empty if there are none.
  func list(_ address: String) throws(StorageError) -> [RemoteFile]

  /// The very version that was listed, in a file that goes with its last owner; nil where it was cancelled.
  func copy(_ file: RemoteFile, _ isCancelled: () -> Bool) throws(StorageError) -> TemporaryFile?
}

extension SourceScan {
  /// Adds the files at that address or below it.
  ///
  /// The result is as for a folder, except that links and book descriptions do not exist there.
  ///
  /// - Parameters:
  ///   - address: the address without slashes at its end.
  ///   - library: the destination, which is not searched.
  mutating func add(_ address: String, of remote: any RemoteSources, _ library: String) {
    let library = remote.isMeant(by: library) ? Self.trimmed(library) : nil
    if address == library {
      failures.append(BuildError(address, "is the library itself; name where the pictures are"))
      return
    }
    let files: [RemoteFile]
    var sidecars: [[UInt8]: RemoteFile] = [:]
    let isAlone: Bool
    do throws(StorageError) {
      files = try remote.list(address)
      isAlone = files.count == 1 && files[0].path == address
      for file in files where Self.isSidecar(file) && file.bytes >= 0 {
        sidecars[Array(file.path.utf8)] = file
      }
      if isAlone {
        for path in SourceSidecar.paths(ofSourceAt: address) {
          sidecars[Array(path.utf8)] = try remote.list(path).first { $0.path.utf8.elementsEqual(path.utf8) }
        }
      }
    } catch {
      failures.append(BuildError(address, error.reason, BuildError.Kind(error, isOfSource: true)))
      return
    }
    if files.isEmpty {
      isMissing = true
      if !mayBeMissing { failures.append(BuildError(address, "there is nothing of that name")) }
      return
    }
    for file in files {
      if let library, file.path.utf8.starts(with: "\(library)/".utf8) { continue }
      let relative =
        isAlone ? file.name : String(Substring(file.path.utf8.dropFirst(address.utf8.count + 1)))
      let parts = relative.utf8.split(separator: UInt8(ascii: "/"))
      if parts.contains(where: { $0.first == UInt8(ascii: ".") }) { continue }
      guard isAlone || ImageFileName.isKnown(file.path) else {
        if !Self.isSidecar(file) { passOver(file.path) }
        continue
      }
      filesMet += 1
      guard file.bytes >= 0 else {
        failures.append(BuildError(file.path, "is listed with an invalid size"))
        continue
      }
      guard seenAddresses.insert(Array(file.path.utf8)).inserted else { continue }
      found.append(
        Found(
          path: file.path, relative: relative, root: isAlone ? nil : Self.name(ofFolder: address),
          origin: origin, remote: file, sidecar: Self.sidecar(of: file.path, in: sidecars)))
    }
  }

  private static func isSidecar(_ file: RemoteFile) -> Bool {
    file.path.lowercased().hasSuffix(SidecarFile.ending)
  }

  /// As `SourceSidecar` looks for it.
  private static func sidecar(of path: String, in sidecars: [[UInt8]: RemoteFile]) -> RemoteFile? {
    SourceSidecar.paths(ofSourceAt: path).lazy.compactMap { sidecars[Array($0.utf8)] }.first
  }
}
