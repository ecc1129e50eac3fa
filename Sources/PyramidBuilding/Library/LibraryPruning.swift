package import TileStorage
package import ZigguratFiles

/// The images that a library loses because their sources do not exist any more.
///
/// Only images of the given sources are considered. Uploads and images built from other sources stay, and so do books
/// in a run of pictures. An image of unknown origin also stays.
package struct LibraryPruning: Sendable {
  /// The ids of the images to prune, sorted.
  package let ids: [ImageID]
  /// Why nothing should go unasked; nil where nothing speaks against it.
  package let refusal: Rejection?

  /// Images that stay although their sources do not exist; nil if there are none.
  package let spared: Spared?

  /// Images whose folders exist and are empty, as mount points of disks that are not mounted.
  package struct Spared: Hashable, Sendable {
    /// The images, sorted.
    package let ids: [ImageID]
    /// The empty folders, sorted.
    package let folders: [String]
  }

  /// A reason to suppose that sources are missing by accident.
  package enum Rejection: Hashable, Sendable {
    /// The argument in which no image was found, as on a share that is not mounted.
    case emptySource(String)
    /// A large part of the library, which has so many images in all.
    case manyOf(Int)
  }

  /// No run removes more than this unasked, unless it is less than a tenth of the library.
  static let fewest = 10

  /// - Parameters:
  ///   - met: the images that builds have seen. All images stay of a source that no build has seen, or that could not
  ///     be read.
  ///   - sizes: bytes of files that are not built yet. An image of a source of that size may be one of them under
  ///     another name, and stays until that is known.
  ///   - gone: images that this run removed before. They count together with the present ones.
  ///   - isCareful: whether images with empty source folders are spared.
  package init(
    of scan: SourceScan, keeping met: SeenImages, in store: any ArchiveStore, origins: any OriginStore,
    sparing sizes: Set<Int> = [], gone: Int = 0, isCareful: Bool = true
  ) throws(StorageError) {
    let kept = met.kept(of: scan.sources)
    let candidates = try origins.images(from: Set(scan.roots.map(\.root)))
    let all = candidates.filter { id in
      if scan.isLinked(id) || kept.holds(id, record: { store.buildRecord(ofID: id) }) { return false }
      return sizes.isEmpty || !(store.buildRecord(ofID: id).map { sizes.contains($0.sourceBytes) } ?? false)
    }
    if !all.isEmpty, let empty = scan.roots.first(where: \.isEmpty) {
      ids = all
      spared = nil
      refusal = .emptySource(empty.text)
    } else {
      let folders = isCareful ? try Self.emptyFolders(of: all, scan, store, origins) : [:]
      ids = folders.isEmpty ? all : all.filter { folders[$0] == nil }
      spared =
        folders.isEmpty
        ? nil : Spared(ids: folders.keys.sorted(), folders: Set(folders.values).sorted())
      let lost = ids.isEmpty ? 0 : ids.count + gone
      let count = lost > Self.fewest ? try store.count() : 0
      refusal = lost > Self.fewest && lost * 10 > count + gone ? .manyOf(count) : nil
    }
  }

  private init(ids: [ImageID], spared: Spared?, refusal: Rejection?) {
    self.ids = ids
    self.spared = spared
    self.refusal = refusal
  }

  /// Returns the images from folders that are now empty, without opening archives; `nil` if there are none.
  package static func images(
    ofEmptyFolders folders: [SourceScan.EmptyFolder], of scan: SourceScan, keeping met: SeenImages,
    in store: any ArchiveStore, origins: any OriginStore
  ) throws(StorageError) -> Spared? {
    if folders.isEmpty { return nil }
    let places = Dictionary(
      folders.flatMap { folder in folder.ids.map { ($0, folder.path) } },
      uniquingKeysWith: { first, _ in first })
    let kept = met.kept(of: scan.sources)
    var found: [ImageID: String] = [:]
    for id in try origins.images(from: Set(folders.map(\.root))) {
      var folder = id.folder
      while let each = folder, places[each] == nil { folder = each.folder }
      guard let place = folder.flatMap({ places[$0] }), !scan.isLinked(id),
        !kept.holds(id, record: { store.buildRecord(ofID: id) })
      else { continue }
      found[id] = place
    }
    return found.isEmpty ? nil : Spared(ids: found.keys.sorted(), folders: Set(found.values).sorted())
  }

  /// Returns the empty folders of images whose sources may lie on disks that are not mounted.
  private static func emptyFolders(
    of ids: [ImageID], _ scan: SourceScan, _ store: any ArchiveStore, _ origins: any OriginStore
  ) throws(StorageError) -> [ImageID: String] {
    if ids.isEmpty { return [:] }
    let places = scan.places
    var folders: [ImageID: String] = [:]
    for (id, owner) in try origins.owners(of: ids) {
      if let folder = places[owner]?.emptyFolder(of: id, store.buildRecord(ofID: id)) { folders[id] = folder }
    }
    return folders
  }

  /// Returns the images of a part of a plan. Whether they look like an accident is judged of the whole.
  package func part(_ shard: WorkShard, of scan: SourceScan) -> LibraryPruning {
    let works = Set(scan.sources.map(\.work))
    func isOfPart(_ id: ImageID) -> Bool {
      var work: ImageID? = id
      // A page's work is its book's.
      while let each = work, !works.contains(each) { work = each.folder }
      return shard.has(work ?? id)
    }
    let sparedIDs = spared?.ids.filter(isOfPart) ?? []
    return LibraryPruning(
      ids: ids.filter(isOfPart),
      spared: sparedIDs.isEmpty ? nil : Spared(ids: sparedIDs, folders: spared?.folders ?? []),
      refusal: refusal)
  }

  /// Moves the images to the trash.
  ///
  /// - Returns: the moved images, sorted, and the errors of others.
  package func run(
    in store: any ArchiveStore
  ) throws(StorageError) -> (ids: [ImageID], errors: [StorageError]) {
    try store.trashAll(ids)
  }
}

extension ArchiveStore {
  /// Moves images into the trash.
  /// - Returns: those that were moved, in the same order, and the reasons why others were not.
  func trashAll(_ ids: [ImageID]) throws(StorageError) -> (ids: [ImageID], errors: [StorageError]) {
    guard !ids.isEmpty else { return ([], []) }
    let failures = try trash(ids)
    return (ids.filter { !failures.ids.contains($0) }, failures.errors)
  }
}
