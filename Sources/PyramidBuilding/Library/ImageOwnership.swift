package import Files
import Glibc
import Synchronization
package import TileStorage

/// The owners of a library's images: the source root that built an image keeps its id until the image is pruned or
/// deleted, and no other source replaces it.
///
/// A source of another root takes an image over in these cases only:
/// - It is the file that the image was built from, found by another argument.
/// - Its content is that of the image, and the former source is gone.
/// - Its root is the former root under another path: nothing is at the former path, and most of the images
///   that both share (judged by a sample) have the same content in the new root.
/// - The user asks for it.
package final class ImageOwnership: Sendable {
  private struct State {
    /// Owners by image, as `SourceRoot.text`; nil if the image has none.
    var owners: [ImageID: String?] = [:]
    /// Whether `owners` has all images that have one.
    var isWhole = false
    var places: [String: SourcePlace?] = [:]
    /// Former roots whose pictures are found by other roots now.
    var renamed: Set<String> = []
    /// Images of which the library had no archive.
    var new: Set<ImageID> = []
  }

  private let store: any ArchiveStore
  private let origins: any OriginStore
  private let takesAll: Bool
  private let state: Mutex<State>

  /// Sources of a former root whose content is compared.
  private static let sampleSize = 20
  /// Above this number of sources all owners are read at once.
  private static let fewSources = 500

  /// - Parameters:
  ///   - sources: of this run.
  ///   - takesAll: whether sources of this run replace images of other sources.
  ///   - digest: returns the digest of a source's content; nil if it cannot be read.
  package init(
    of sources: [SourceScan.Source], in store: any ArchiveStore, origins: any OriginStore, takesAll: Bool,
    digest: (SourceScan.Source) -> String?
  ) throws(StorageError) {
    (self.store, self.origins, self.takesAll) = (store, origins, takesAll)
    let isWhole = sources.count > Self.fewSources
    let known = try origins.owners(of: isWhole ? nil : sources.map(\.id))
    var state = State()
    state.isWhole = isWhole
    for (id, owner) in known { state.owners[id] = owner }
    if !isWhole {
      for source in sources where known[source.id] == nil { state.owners[source.id] = .some(nil) }
    }
    self.state = Mutex(state)
    if !takesAll { try judgeRenames(of: sources, digest) }
  }

  /// Returns the reason why the image may not be built from the source; nil if it may.
  /// - Parameter digest: of the source's content.
  func refusal(of source: SourceScan.Source, digest: String) throws(StorageError) -> String? {
    guard store.holds(source.id) else {
      state.withLock { _ = $0.new.insert(source.id) }
      return nil
    }
    guard let root = source.root, !takesAll else { return nil }
    let owner = try owner(of: source.id)
    if owner == root.text { return nil }
    let record = store.buildRecord(ofID: source.id)
    if record?.isUploaded == true { return Self.reason(source, "an uploaded image") }
    guard let owner else {
      guard let record else {
        return store.isForeign(source.id)
          ? Self.reason(source, "an archive that was not built from a source") : nil
      }
      // The catalog may have been deleted.
      if record.sourceDigest == digest || record.sourceName == source.fileName { return nil }
      return Self.reason(source, "an image that was built from another file, '\(record.sourceName)'")
    }
    if state.withLock({ $0.renamed.contains(owner) }) { return nil }
    guard let place = try place(ofRoot: owner), place.isLocal else {
      return Self.reason(source, "an image of another source of this library")
    }
    let paths = place.paths(of: source.id, record)
    if let path = paths.first(where: { access($0, F_OK) == 0 }) {
      return Self.isSameFile(path, source.path) ? nil : Self.reason(source, path)
    }
    if let record, record.sourceDigest == digest { return nil }
    // In place of a file that was named itself.
    if paths.contains(where: { parentFolder($0).utf8.elementsEqual(parentFolder(source.path).utf8) }) {
      return nil
    }
    return Self.reason(source, paths.first ?? place.path, isGone: true)
  }

  /// Whether an archive of this id is this run's to replace.
  func mayReplace(_ id: ImageID) -> Bool { state.withLock { !$0.new.contains(id) } }

  /// To be called if an archive got the id by a move.
  func add(_ id: ImageID) { state.withLock { _ = $0.new.remove(id) } }

  private static func reason(_ source: SourceScan.Source, _ other: String, isGone: Bool = false) -> String {
    let gone = isGone ? ", which is gone but whose image was not pruned" : ""
    return "has the same id '\(source.id)' as \(other)\(gone) (\(SourceScan.prefixHint); "
      + "--take-ownership replaces the image)"
  }

  private static func isSameFile(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev
      && first.st_ino == second.st_ino
  }

  private func owner(of id: ImageID) throws(StorageError) -> String? {
    let (known, isWhole) = state.withLock { ($0.owners[id], $0.isWhole) }
    if let known { return known }
    if isWhole { return nil }
    // A page, which the run did not know at its start.
    let owner = try origins.owners(of: [id])[id]
    state.withLock { $0.owners[id] = .some(owner) }
    return owner
  }

  private func place(ofRoot root: String) throws(StorageError) -> SourcePlace? {
    if let known = state.withLock({ $0.places[root] }) { return known }
    let place = try origins.place(ofRoot: root)
    state.withLock { $0.places[root] = .some(place) }
    return place
  }

  /// Finds former roots whose pictures are found by this run's roots.
  private func judgeRenames(
    of sources: [SourceScan.Source], _ digest: (SourceScan.Source) -> String?
  ) throws(StorageError) {
    var met: [String: [SourceScan.Source]] = [:]
    for source in sources {
      guard let root = source.root else { continue }
      var owner = state.withLock { $0.owners[source.id] ?? nil }
      // A source of several pages.
      if owner == nil, state.withLock({ $0.isWhole }) {
        owner = state.withLock { $0.owners[source.id.page(1)] ?? nil }
      }
      if let owner, owner != root.text { met[owner, default: []].append(source) }
    }
    for (owner, sources) in met {
      if let place = try place(ofRoot: owner), !place.isLocal || place.isThere { continue }
      let step = max(1, sources.count / Self.sampleSize)
      let sample = stride(from: 0, to: sources.count, by: step).map { sources[$0] }
      let same = sample.count { source in
        guard let record = store.buildRecord(ofID: source.id) ?? store.buildRecord(ofID: source.id.page(1)),
          record.isUploaded != true
        else { return false }
        return digest(source) == record.sourceDigest
      }
      if same * 2 > sample.count { state.withLock { _ = $0.renamed.insert(owner) } }
    }
  }
}

extension SourceScan.Source {
  /// The name of the file, without its folder.
  fileprivate var fileName: String {
    name ?? remote?.name ?? path.utf8.split(separator: UInt8(ascii: "/")).last.flatMap { String($0) } ?? path
  }
}

extension SourcePlace {
  /// Whether this machine can look whether its pictures are there.
  fileprivate var isLocal: Bool { path.utf8.first == UInt8(ascii: "/") }

  /// Whether anything is at the place. An empty folder may be a mount point.
  fileprivate var isThere: Bool {
    var status = stat()
    guard stat(path, &status) == 0 else {
      return path.contains { "*?[".contains($0) } && !SourceScan.glob(path).isEmpty
    }
    guard status.st_mode & S_IFMT == S_IFDIR, let directory = opendir(path) else { return true }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      if entry.pointee.name?.utf8.first != UInt8(ascii: ".") { return true }
    }
    return false
  }

  /// The paths that the source of an image may have here, the likeliest first.
  fileprivate func paths(of id: ImageID, _ record: BuildRecord?) -> [String] {
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR { return [path] }
    guard let name = record?.sourceName else { return [path] }
    let below = prefix.map { String(id.text.utf8.dropFirst($0.text.utf8.count + 1)) ?? "" } ?? id.text
    // Of a page, its source's.
    let isPart = record?.page != nil && record?.folio == nil || record?.associatedAs != nil
    var folder = ImageID(below)?.folder
    if isPart { folder = folder?.folder }
    var folders = [folder?.text ?? ""]
    // A book is named after the root or a folder below it.
    if isBook {
      folders.append(String(folders[0].split(separator: "/").dropFirst().joined(separator: "/")))
    }
    let roots = path.contains(where: { "*?[".contains($0) }) ? SourceScan.glob(path) : [path]
    return roots.flatMap { root in
      let isFile = stat(root, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
      if isFile { return root.hasSuffix("/\(name)") ? [root] : [] }
      return folders.map { $0.isEmpty ? "\(root)/\(name)" : "\(root)/\($0)/\(name)" }
    } + (path.hasSuffix("/\(name)") ? [path] : [])
  }
}
