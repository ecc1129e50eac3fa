import Glibc
import Synchronization
package import TileStorage
package import ZigguratFiles

/// The owners of a library's images: the source root that built an image keeps its id until the image is pruned or
/// deleted, and no other source replaces it.
///
/// A source of another root takes an image over in these cases only:
/// - It is the file that the image was built from, found by another argument.
/// - Its content is that of the image, and the former source is gone.
/// - Its root is the former root under another path: the former path is gone, and most of the images
///   that both share (judged by a sample) have the same content in the new root.
/// - The user asks for it.
///
/// A path is gone if it does not exist and the nearest folder above it that exists is not empty. An empty folder may be
/// the mount point of a disk that is not mounted.
///
/// The pages of a book and its description have one owner.
///
/// If the owner of an image is unknown because the catalog was deleted, a source of the same file name replaces it only
/// if at least half of the images that its root shares with the library (judged by a sample) have their sources'
/// content.
package final class ImageOwnership: Sendable {
  private struct State {
    /// Owners by image, as `SourceRoot.text`; nil if the image has none.
    var owners: [ImageID: String?] = [:]
    /// Whether `owners` has all images that have one.
    var isWhole = false
    var places: [String: SourcePlace?] = [:]
    /// Former roots whose pictures are found by other roots now.
    var renamed: Set<String> = []
    /// Images without an archive in the library.
    var new: Set<ImageID> = []
    /// Reasons why roots may not build books; nil if they may.
    var books: [BookClaim: String?] = [:]
    /// Books that this run's roots came to own.
    var claimedBooks: [ImageID: SourceRoot] = [:]
    /// Whether roots built images whose owner is unknown.
    var builders: [SourceRoot: Bool] = [:]
    /// Uploads, and images of other roots, that sources of this run may replace.
    var others: [ImageID: BuildRecord] = [:]
    /// The images of all sources; nil before they are asked for.
    var ids: Set<ImageID>?
    /// Sources that own refused images or books and do not exist, but whose disks may not be mounted: their paths.
    var absent: [ImageID: String] = [:]
  }

  private struct BookClaim: Hashable {
    let book: ImageID
    let root: SourceRoot
  }

  /// A page of a book that is in the library.
  private typealias Page = (id: ImageID, record: BuildRecord)

  private let store: any ArchiveStore
  private let origins: any OriginStore
  private let takesAll: Bool
  /// All sources of the roots.
  private let sources: [SourceScan.Source]
  private let digest: @Sendable (SourceScan.Source) -> String?
  private let state: Mutex<State>

  /// Sources of a root whose content is compared.
  private static let sampleSize = 20
  /// Archives below a book's id that are looked at to find one of its pages.
  private static let maxPages = 1000
  /// Above this number of sources all owners are read at once.
  private static let fewSources = 500

  /// - Parameters:
  ///   - sources: the sources of this run.
  ///   - all: all sources of the same roots; this run may build a part of them.
  ///   - takesAll: whether sources of this run replace images of other sources.
  ///   - digest: returns the digest of a source's content; nil if it cannot be read.
  package init(
    of sources: [SourceScan.Source], among all: [SourceScan.Source], in store: any ArchiveStore,
    origins: any OriginStore, takesAll: Bool, digest: @escaping @Sendable (SourceScan.Source) -> String?
  ) throws(StorageError) {
    self.store = store
    self.origins = origins
    self.takesAll = takesAll
    self.sources = all
    self.digest = digest
    let isWhole = sources.count > Self.fewSources
    let known = try origins.owners(of: isWhole ? nil : sources.map(\.id))
    var state = State()
    state.isWhole = isWhole
    for (id, owner) in known { state.owners[id] = owner }
    if !isWhole {
      for source in sources where known[source.id] == nil { state.owners[source.id] = .some(nil) }
    }
    self.state = Mutex(state)
    try judgeRenames(of: sources)
  }

  /// Returns the reason why the image may not be built from the source; nil if it may.
  ///
  /// - Parameters:
  ///   - book: the book that contains the image as a page.
  ///   - digest: the digest of the source's content.
  func refusal(
    of source: SourceScan.Source, pageOf book: ImageID?, digest: String
  ) throws(StorageError) -> String? {
    if let book, let reason = try refusal(ofBook: book, from: source) { return reason }
    guard let other = try otherOwner(of: source, digest: digest) else { return nil }
    // A file's pages are built or refused together. An upload may have the id of one scan of a book.
    guard let book, source.folio == nil, let root = source.root else { return Self.reason(source, other) }
    let reason = Self.reason(book, other)
    state.withLock { state in
      state.books[BookClaim(book: book, root: root)] = .some(reason)
      if let owner = state.absent[source.id] { state.absent[book] = owner }
    }
    return reason
  }

  /// Returns the path of the source that owns a refused image, if that source does not exist but its disk may not be
  /// mounted; nil otherwise.
  ///
  /// - Parameter book: the book that contains the image as a page.
  func absentOwner(of id: ImageID, pageOf book: ImageID?) -> String? {
    state.withLock { state in state.absent[id] ?? book.flatMap { state.absent[$0] } }
  }

  /// Returns the name of the image's owner if the source may not replace the image.
  private func otherOwner(
    of source: SourceScan.Source, digest: String
  ) throws(StorageError) -> String? {
    guard store.holds(source.id) else {
      state.withLock { _ = $0.new.insert(source.id) }
      return nil
    }
    guard let root = source.root else { return nil }
    if takesAll {
      if let record = store.buildRecord(ofID: source.id), try isOfAnother(source.id, record, root) {
        state.withLock { $0.others[source.id] = record }
      }
      return nil
    }
    let owner = try owner(of: source.id)
    if owner == root.text { return nil }
    let record = store.buildRecord(ofID: source.id)
    if record?.isUploaded == true { return "an uploaded image" }
    guard let owner else {
      guard let record else {
        return store.isForeign(source.id) ? "an archive that was not built from a source" : nil
      }
      if record.sourceDigest == digest { return nil }
      guard record.sourceName == source.fileName else {
        return "an image that was built from another file, '\(record.sourceName)'"
      }
      return hasBuilt(root)
        ? nil
        : "an image of another file of that name, or of this one before it changed: its owner is unknown"
    }
    if state.withLock({ $0.renamed.contains(owner) }) { return nil }
    guard let place = try place(ofRoot: owner), place.isLocal else {
      return "an image of another source of this library"
    }
    let paths = place.paths(of: source.id, record)
    if let path = paths.first(where: { access($0, F_OK) == 0 }) {
      return Self.isSameFile(path, source.path) ? nil : path
    }
    // In place of a file that was named itself.
    if paths.contains(where: { parentFolder($0).utf8.elementsEqual(parentFolder(source.path).utf8) }) {
      return nil
    }
    let isGone = place.isGone(paths)
    if isGone, let record, record.sourceDigest == digest { return nil }
    if !isGone { state.withLock { $0.absent[source.id] = place.path } }
    return Self.name(paths.first ?? place.path, isGone: isGone)
  }

  /// Returns the reason why the source may not add to the book; nil if it may.
  func refusal(ofBook book: ImageID, from source: SourceScan.Source) throws(StorageError) -> String? {
    guard let root = source.root else { return nil }
    if takesAll {
      state.withLock { $0.claimedBooks[book] = root }
      return nil
    }
    let claim = BookClaim(book: book, root: root)
    if let known = state.withLock({ $0.books[claim] }) { return known }
    let reason = try otherOwner(ofBook: book, source, root).map { Self.reason(book, $0) }
    return state.withLock { state in
      // Another thread may have met a page that is refused.
      if let known = state.books[claim] { return known }
      state.books[claim] = .some(reason)
      if reason == nil { state.claimedBooks[book] = root }
      return reason
    }
  }

  /// Whether an image is an upload, or known to be of another root than this one, which has no other path.
  private func isOfAnother(
    _ id: ImageID, _ record: BuildRecord, _ root: SourceRoot
  ) throws(StorageError) -> Bool {
    if record.isUploaded == true { return true }
    guard let owner = try owner(of: id), owner != root.text else { return false }
    return !state.withLock { $0.renamed.contains(owner) }
  }

  /// Returns the records of uploads and of other roots' images that this run replaced, each once.
  package func takeReplaced() -> [ImageID: BuildRecord] {
    let others = state.withLock { state in
      defer { state.others = [:] }
      return state.others
    }
    return others.filter { id, old in
      guard let new = store.buildRecord(ofID: id) else { return false }
      return old.isUploaded == true && new.isUploaded != true || !new.showsSamePicture(as: old)
    }
  }

  /// Returns the books that roots of this run own now, each once. The pages of a book that one owns may all have
  /// failed.
  package func takeClaimedBooks() -> [ImageID: SourceRoot] {
    state.withLock { state in
      let claims = state.claimedBooks.filter { book, root in
        state.books[BookClaim(book: book, root: root)].map { $0 == nil } ?? true
      }
      state.claimedBooks = [:]
      return claims
    }
  }

  private func otherOwner(
    ofBook book: ImageID, _ source: SourceScan.Source, _ root: SourceRoot
  ) throws(StorageError) -> String? {
    var pages: [String: Page] = [:]
    for (owner, ids) in try origins.owners(below: book) {
      if let page = page(of: book, among: ids.sorted()) { pages[owner] = page }
    }
    let claimant = try origins.owner(ofBook: book)
    guard let owner = owner(among: pages, claimant, root) else {
      return isUnowned(book, source, root) ? nil : "another source of this library"
    }
    if owner == root.text || state.withLock({ $0.renamed.contains(owner) }) { return nil }
    guard let page = pages[owner], let place = try place(ofRoot: owner), place.isLocal else {
      return "another source of this library"
    }
    let all = place.paths(of: page.id, page.record).map { Self.place(ofBookWith: $0, page.record.folio) }
    // A book that is a folder has its name.
    let named = all.filter {
      page.record.folio != nil && $0.utf8.elementsEqual("\(parentFolder($0))/\(book.name)".utf8)
    }
    let places = named.isEmpty ? all : named
    let own = Self.place(ofBookWith: source.path, source.folio)
    if places.contains(where: { Self.isSameFile($0, own) }) { return nil }
    if let there = places.first(where: { access($0, F_OK) == 0 }) { return there }
    let isGone = place.isGone(places)
    if isGone, digest(ofPage: page.id, source) == page.record.sourceDigest { return nil }
    if !isGone { state.withLock { $0.absent[book] = place.path } }
    return Self.name(places.first ?? place.path, isGone: isGone)
  }

  /// The owner of a book with these pages by their owners: its last one, as long as any page is left of it.
  private func owner(among pages: [String: Page], _ claimant: String?, _ root: SourceRoot) -> String? {
    if let claimant, pages[claimant] != nil { return claimant }
    return pages[root.text] != nil ? root.text : pages.keys.min()
  }

  /// Returns the first that is a page of the book, not of a book within it, nor an image in a folder of that name.
  private func page(of book: ImageID, among ids: [ImageID]) -> Page? {
    for id in ids.prefix(Self.maxPages) where store.holds(id) {
      if let record = store.buildRecord(ofID: id), record.book(ofPage: id) == book { return (id, record) }
    }
    return nil
  }

  /// Whether a book of whose pages no owner is known has no page, or one that was built from this root.
  private func isUnowned(_ book: ImageID, _ source: SourceScan.Source, _ root: SourceRoot) -> Bool {
    let ids = state.withLock { state in
      if state.ids == nil { state.ids = Set(sources.map(\.id)) }
      return state.ids ?? []
    }
    var isEmpty = true
    for id in store.pages(below: book).prefix(Self.maxPages) {
      guard let record = store.buildRecord(ofID: id), record.book(ofPage: id) == book else { continue }
      isEmpty = false
      let isOfName =
        source.folio == nil
        ? record.folio == nil && record.sourceName == source.fileName : ids.contains(id)
      if isOfName { return digest(ofPage: id, source) == record.sourceDigest || hasBuilt(root) }
    }
    return isEmpty
  }

  /// The digest of the source of a book's page in this run.
  private func digest(ofPage id: ImageID, _ source: SourceScan.Source) -> String? {
    guard source.folio != nil else { return digest(source) }
    return sources.first { $0.id == id }.flatMap(digest)
  }

  /// The folder of a book, from the path of a page; the path itself if the book is one file.
  private static func place(ofBookWith path: String, _ folio: String?) -> String {
    guard let folio else { return path }
    return folio.utf8.reduce(parentFolder(path)) { folder, byte in
      byte == UInt8(ascii: "/") ? parentFolder(folder) : folder
    }
  }

  /// Whether an archive of this id is this run's to replace.
  func mayReplace(_ id: ImageID) -> Bool { state.withLock { !$0.new.contains(id) } }

  /// To be called if an archive got the id by a move.
  func add(_ id: ImageID) { state.withLock { _ = $0.new.remove(id) } }

  private static func reason(_ source: SourceScan.Source, _ other: String) -> String {
    "has the same id '\(source.id)' as \(other) (\(hint))"
  }

  private static func reason(_ book: ImageID, _ other: String) -> String {
    "is of the book '\(book)', which belongs to \(other) (\(hint))"
  }

  private static let hint = "\(SourceScan.prefixHint); --take-ownership replaces the image"

  /// The name of a source that does not exist.
  private static func name(_ path: String, isGone: Bool) -> String {
    path
      + (isGone
        ? ", which is gone but whose image was not pruned"
        : ", which is not there now (is its disk mounted?)")
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
  private func judgeRenames(of sources: [SourceScan.Source]) throws(StorageError) {
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
      if let place = try place(ofRoot: owner), !place.isLocal || !place.isGone { continue }
      let (same, all) = compareSample(of: sources)
      if same * 2 > all { state.withLock { _ = $0.renamed.insert(owner) } }
    }
  }

  /// Whether the root probably built images whose owner is unknown: at least half of a sample have its sources'
  /// content.
  private func hasBuilt(_ root: SourceRoot) -> Bool {
    if let known = state.withLock({ $0.builders[root] }) { return known }
    let (same, all) = compareSample(
      of: sources.filter { $0.root == root && (store.holds($0.id) || store.holds($0.id.page(1))) })
    let isBuilder = same > 0 && same * 2 >= all
    state.withLock { $0.builders[root] = isBuilder }
    return isBuilder
  }

  /// Returns how many of a sample of sources have the content of the library's images.
  private func compareSample(of sources: [SourceScan.Source]) -> (same: Int, all: Int) {
    let step = max(1, sources.count / Self.sampleSize)
    let sample = stride(from: 0, to: sources.count, by: step).map { sources[$0] }
    let same = sample.count { source in
      guard let record = store.buildRecord(ofID: source.id) ?? store.buildRecord(ofID: source.id.page(1)),
        record.isUploaded != true
      else { return false }
      return digest(source) == record.sourceDigest
    }
    return (same, sample.count)
  }
}

extension SourceScan.Source {
  /// The name of the file, without its folder.
  fileprivate var fileName: String {
    name ?? remote?.name ?? path.utf8.split(separator: UInt8(ascii: "/")).last.flatMap { String($0) } ?? path
  }
}
