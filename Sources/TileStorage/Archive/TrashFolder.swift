import Foundation
import Glibc
package import ZigguratFiles

/// The trash of a library: the folder `.ziggurat-trash` with a subfolder for each deletion.
///
/// A subfolder contains the archives, their sidecars and the originals of uploads under their former paths. The
/// original of a book moves with the last of its pages, and so does the description of a book. A symbolic link of the
/// trash's name is refused: files would leave the library, or be removed elsewhere.
///
/// There is no journal. An archive is moved before its sidecar and its original, and comes back after them, each by one
/// `rename`. Whenever the program ends, an image is whole with its metadata in the library, or whole in the trash. A
/// sidecar alone shows nothing. From another mount a file is copied, and removed when the copy is on the disk. If the
/// program is killed in between, the image may be in both places.
package struct TrashFolder: Sendable {
  package static let name = ".ziggurat-trash"

  package let library: String
  private var root: String { "\(library)/\(Self.name)" }

  package init(library: String) { self.library = library }

  /// Images that could not be moved to the trash, and the errors.
  package struct Failures: Sendable {
    /// Images that are still in the library.
    package var ids: Set<ImageID> = []
    package var errors: [StorageError] = []

    package init() {}
  }

  /// Moves archives and their sidecars out of the library, durably, as one deletion. An archive that cannot be moved
  /// does not stop the others.
  /// - Parameters:
  ///   - paths: in the library's folder; missing ones are ignored.
  ///   - time: seconds since 1970.
  /// - Returns: the deletion; nil if nothing was moved.
  package func take(
    _ paths: [String], at time: Int = Deletion.now
  ) -> (deletion: Deletion?, failures: Failures) {
    let name = Self.name(at: time)
    var touched: Set<String> = [root]
    var taken: [ImageID] = []
    var failures = Failures()
    let there = paths.filter { access($0, F_OK) == 0 }
    guard !there.isEmpty else { return (nil, failures) }
    let use: DirectoryLock
    do throws(StorageError) {
      if isLink { throw linkError }
      use = try inUse()
    } catch {
      failures.ids = Set(there.compactMap { ImageID(archive: $0, below: library) })
      failures.errors = [error]
      return (nil, failures)
    }
    defer { withExtendedLifetime(use) {} }
    var books: [String: BookOriginal] = [:]
    for path in there where access(path, F_OK) == 0 {
      let (source, target) = (parentFolder(path), parentFolder(trashed(path, name)))
      guard let id = ImageID(archive: path, below: library) else { continue }
      do throws(StorageError) {
        try RootDirectory(library).make(target)
        let lock = try DirectoryLock(source)
        defer { withExtendedLifetime(lock) {} }
        // Before the archive is moved: identifying the original means reading it to its end.
        let original = original(ofArchive: path, &books)
        try move(path, trashed(path, name))
        touched.formUnion([source, target])
        taken.append(id)
        for sidecar in SidecarFile.all(ofArchive: path) {
          try move(sidecar.path, trashed(sidecar.path, name))
        }
        if let original { try move(original.path, trashed(original.path, name)) }
      } catch {
        failures.errors.append(error)
        if taken.last != id { failures.ids.insert(id) }
      }
    }
    do throws(StorageError) {
      for (folder, book) in books where !hasPage(of: book, in: folder) {
        try move(book.file.path, trashed(book.file.path, name))
        touched.formUnion([parentFolder(folder), parentFolder(trashed(folder, name))])
      }
      for book in Set(taken.compactMap(\.folder)) {
        touched.formUnion(try takeDescription(of: book, name))
      }
      try synchronize(touched)
    } catch { failures.errors.append(error) }
    return (taken.isEmpty ? nil : Deletion(name: name, images: taken, time: time), failures)
  }

  /// Moves the description of a book without pages into a deletion, so that the next book of that name does not get it.
  /// The description of a renamed book moves along with its pages.
  ///
  /// - Returns: the folders that changed.
  private func takeDescription(of book: ImageID, _ name: String) throws(StorageError) -> Set<String> {
    let path = FolderStore.bookFile(of: book, in: library)
    guard isFile(path), !hasImages(book),
      IDRedirects(library: library).newName(ofBook: book, describedBy: path) == nil
    else { return [] }
    let target = trashed(path, name)
    try RootDirectory(library).make(parentFolder(target))
    let lock = try DirectoryLock(parentFolder(path))
    defer { withExtendedLifetime(lock) {} }
    try move(path, target)
    return [parentFolder(path), parentFolder(target)]
  }

  /// Restores the description of a book that had no pages. It was moved with the last page, perhaps in a later
  /// deletion.
  private func restoreDescription(of book: ImageID, from name: String, _ time: Int) throws(StorageError) {
    let path = FolderStore.bookFile(of: book, in: library)
    guard !isFile(path) else { return }
    let later = names.compactMap { other in
      Self.time(ofDeletion: other).flatMap { $0 >= time && other != name ? (time: $0, name: other) : nil }
    }
    let deletions = [name] + later.sorted { $0 < $1 }.map(\.name)
    guard let source = deletions.map({ trashed(path, $0) }).first(where: isFile) else { return }
    try move(source, path)
    try synchronize([parentFolder(path), parentFolder(source)])
  }

  /// Whether a folder of the library has images below it.
  private func hasImages(_ folder: ImageID) -> Bool {
    let endings = [".szi", ".zip", ".dzi"]
    return (try? FolderTree.archives(at: "\(library)/\(folder)", endings: endings))?.isEmpty == false
  }

  private func isFile(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Moves the rest of an image that another source has replaced to the trash, as a deletion without images. The rest
  /// is the metadata about another picture, and the original of an upload. The original of several pages is moved when
  /// none of them is left.
  package func takeRest(ofReplaced path: String, _ record: BuildRecord) throws(StorageError) {
    if isLink { throw linkError }
    if let new = self.record(path), !new.showsSamePicture(as: record) {
      let lock = try DirectoryLock(parentFolder(path))
      defer { withExtendedLifetime(lock) {} }
      let sidecars = SidecarFile.all(ofArchive: path)
      let use = sidecars.isEmpty ? nil : try inUse()
      defer { withExtendedLifetime(use) {} }
      let name = Self.name(at: Deletion.now)
      for sidecar in sidecars {
        let target = trashed(sidecar.path, name)
        try RootDirectory(library).make(parentFolder(target))
        try move(sidecar.path, target)
        try synchronize([root, parentFolder(sidecar.path), parentFolder(target)])
      }
    }
    guard let original = original(of: path, record) else { return }
    let book = BookOriginal(file: original, digest: record.sourceDigest)
    if OriginalFile.archive(ofOriginalOf: path, record) != path, hasPage(of: book, in: parentFolder(path)) {
      return
    }
    let use = try inUse()
    defer { withExtendedLifetime(use) {} }
    let target = trashed(original.path, Self.name(at: Deletion.now))
    try RootDirectory(library).make(parentFolder(target))
    try move(original.path, target)
    try synchronize([root, parentFolder(original.path), parentFolder(target)])
  }

  /// Reads the originals of archives to their ends, so that `take` knows their digests and need not wait.
  package func readOriginals(ofArchives paths: [String]) {
    var books: [String: BookOriginal] = [:]
    for path in paths { _ = original(ofArchive: path, &books) }
  }

  /// Returns the deletions that can be restored, the latest first.
  /// - Parameter oldest: seconds since 1970.
  package func deletions(since oldest: Int) -> [Deletion] {
    names.compactMap { name in
      guard let time = Self.time(ofDeletion: name), Deletion.isKept(time, since: oldest) else { return nil }
      let images = archives(name).compactMap { ImageID(archive: $0, below: "\(root)/\(name)") }
      return images.isEmpty ? nil : Deletion(name: name, images: images, time: time)
    }.lastFirst()
  }

  /// An image with its path in the library.
  package struct Place: Hashable, Sendable {
    package let id: ImageID
    package let path: String
  }

  /// Returns the original of an upload; nil if it has none. A source of a build that lies in the library belongs to its
  /// owner.
  /// - Parameter archive: the present or former path of the archive.
  private func original(of archive: String, _ record: BuildRecord) -> OriginalFile? {
    guard record.isUploaded == true, let enclosure = try? RootDirectory(library) else { return nil }
    return OriginalFile(ofArchive: archive, record, within: enclosure)
  }

  /// The original of a book that is one file.
  private struct BookOriginal {
    let file: OriginalFile
    let digest: String
  }

  /// Returns the original that moves with an archive; nil if no original does.
  /// - Parameter books: by folders of pages, the originals that move with the last page.
  private func original(ofArchive path: String, _ books: inout [String: BookOriginal]) -> OriginalFile? {
    guard let record = record(path), record.isUploaded == true else { return nil }
    let isOfBook = OriginalFile.archive(ofOriginalOf: path, record) != path
    if isOfBook, books[parentFolder(path)]?.digest == record.sourceDigest { return nil }
    guard let file = original(of: path, record) else { return nil }
    if !isOfBook { return file }
    books[parentFolder(path)] = BookOriginal(file: file, digest: record.sourceDigest)
    return nil
  }

  private func hasPage(of book: BookOriginal, in folder: String) -> Bool {
    let archives = (try? FolderTree.archives(at: folder)) ?? []
    return archives.contains { parentFolder($0) == folder && record($0)?.sourceDigest == book.digest }
  }

  /// Restores the original of an upload beside the archive, unless a file with its content is there. The original of a
  /// book was moved with the last of its pages, perhaps in a later deletion.
  private func restoreOriginal(
    of archive: String, from name: String, to path: String
  ) throws(StorageError) {
    guard let record = record(archive), record.isUploaded == true else { return }
    let isOfBook = OriginalFile.archive(ofOriginalOf: path, record) != path
    for deletion in [name] + (isOfBook ? names.filter { $0 != name } : []) {
      guard let original = original(of: trashed(path, deletion), record) else { continue }
      if let place = try original.place(besideArchive: path, record) {
        try move(original.path, place)
        try FolderTree.synchronize(parentFolder(place))
      } else if unlink(original.path) != 0 {
        throw StorageError("remove \(original.path)", errno: errno)
      }
      return
    }
  }

  private func record(_ archive: String) -> BuildRecord? { (try? TileArchive(path: archive))?.buildRecord }

  /// Whether both archives were built from the same picture of the same source.
  private func haveSameSource(_ one: String, _ other: String) -> Bool {
    guard let one = record(one), let other = record(other) else { return false }
    return one.sourceDigest == other.sourceDigest && one.page == other.page && one.folio == other.folio
      && one.associatedAs == other.associatedAs
  }

  /// Restores a deletion's images. An image that was built again from the same source keeps its archive and gets its
  /// metadata back. Another image of the same name remains, and the deleted one stays in the trash.
  /// - Returns: the restored images, and those whose place another image has taken; nil if the deletion does not exist
  ///   any more.
  package func restore(
    _ name: String, since oldest: Int
  ) throws(StorageError) -> (restored: [Place], taken: [Place])? {
    // Only names that cannot be another path.
    guard let time = Self.time(ofDeletion: name), Deletion.isKept(time, since: oldest) else { return nil }
    if isLink { throw linkError }
    guard !self.archives(name).isEmpty else { return nil }
    let use = try inUse()
    defer { withExtendedLifetime(use) {} }
    let archives = archives(name)
    guard !archives.isEmpty else { return nil }
    var (restored, taken): ([Place], [Place]) = ([], [])
    var touched: Set<String> = [root]
    let books = Set(archives.compactMap { ImageID(archive: $0, below: "\(root)/\(name)")?.folder })
    var emptyBooks = books.filter { !hasImages($0) }
    for archive in archives {
      guard let id = ImageID(archive: archive, below: "\(root)/\(name)") else { continue }
      let place = Place(id: id, path: "\(library)/\(id)" + archive.suffix(4))
      let path = place.path
      try RootDirectory(library).make(parentFolder(path))
      let lock = try DirectoryLock(parentFolder(path))
      touched.formUnion([parentFolder(path), parentFolder(archive)])
      let there = SidecarFile(ofArchive: path)
      let isTaken = access(path, F_OK) == 0
      // The metadata of the present image stays, and so does a sidecar that a person has put there.
      var keepsOther = isTaken && (there != nil || !haveSameSource(archive, path))
      if !keepsOther, let there, let own = SidecarFile(ofArchive: archive) {
        keepsOther = try there.contents(within: nil) != own.contents(within: nil)
      }
      guard !keepsOther, let sidecars = SidecarFile.places(ofSidecarsOf: archive, beside: path) else {
        taken.append(place)
        continue
      }
      if let book = id.folder, emptyBooks.remove(book) != nil {
        try restoreDescription(of: book, from: name, time)
      }
      if there == nil { for (source, target) in sidecars { try move(source, target) } }
      try restoreOriginal(of: archive, from: name, to: path)
      if isTaken {
        guard unlink(archive) == 0 else { throw StorageError("remove \(archive)", errno: errno) }
      } else {
        try move(archive, path)
      }
      withExtendedLifetime(lock) {}
      restored.append(place)
    }
    try synchronize(touched)
    // The description stays as long as any deletion if another book has its place.
    let hasDescription = books.contains {
      isFile(trashed(FolderStore.bookFile(of: $0, in: library), name))
    }
    if taken.isEmpty, !hasDescription { discard(name) }
    return (restored, taken)
  }

  /// Removes deletions up to this time for good, and the leftovers of a killed purge. While any process deletes or
  /// restores, nothing expires: a deletion with a retention of zero would expire before all its files are in the trash.
  ///
  /// - Parameter oldest: seconds since 1970.
  package func purge(until oldest: Int) {
    if let lock = try? DirectoryLock(root, waits: false) {
      for name in names {
        guard let time = Self.time(ofDeletion: name), !Deletion.isKept(time, since: oldest) else { continue }
        setAside(name)
      }
      withExtendedLifetime(lock) {}
    }
    for name in names where name.hasPrefix(Self.discarded) {
      try? FileManager.default.removeItem(atPath: "\(root)/\(name)")
    }
  }

  /// Returns a lock of the trash that the deletions and restorations of all processes share, but not a purge.
  private func inUse() throws(StorageError) -> DirectoryLock {
    try RootDirectory(library).make(root)
    return try DirectoryLock(root, isShared: true)
  }

  private static let discarded = "discarded-"

  /// Removes a deletion for good.
  private func discard(_ name: String) {
    if let path = setAside(name) { try? FileManager.default.removeItem(atPath: path) }
  }

  /// Renames a deletion that is to be removed, so that nobody restores half of it.
  ///
  /// - Returns: its new path; nil if that fails.
  @discardableResult private func setAside(_ name: String) -> String? {
    let path = "\(root)/\(Self.discarded)\(name)"
    return rename("\(root)/\(name)", path) == 0 ? path : nil
  }

  /// Returns a new deletion's name: the time and 64 unique bits, in hexadecimal digits.
  private static func name(at time: Int) -> String {
    String(time, radix: 16) + "-" + String(UInt64.random(in: (1 << 60)...(.max)), radix: 16)
  }

  /// Returns the time of a deletion from its name, in seconds since 1970; nil for any other name. Inverse of
  /// `name(at:)`.
  private static func time(ofDeletion name: String) -> Int? {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].count == 16,
      name.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) || $0 == 0x2d })
    else { return nil }
    return Int(parts[0], radix: 16)
  }

  private var names: [String] {
    isLink ? [] : (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
  }

  private var isLink: Bool { Self.isLink(root) }

  private static func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  private var linkError: StorageError {
    StorageError("use the trash \(root)", "it is a symbolic link; put a folder in its place")
  }

  /// Returns the paths of a deletion's archives.
  private func archives(_ name: String) -> [String] {
    let folder = "\(root)/\(name)"
    if Self.isLink(folder) { return [] }
    let found = (try? FolderTree.archives(at: folder, endings: [".szi", ".zip"])) ?? []
    return found.filter { $0 != folder }
  }

  private func trashed(_ path: String, _ name: String) -> String {
    "\(root)/\(name)" + String(path.unicodeScalars.dropFirst(library.unicodeScalars.count))
  }

  private func move(_ from: String, _ to: String) throws(StorageError) {
    if rename(from, to) == 0 { return }
    guard errno == EXDEV else { throw StorageError("move \(from)", errno: errno) }
    try moveAcrossMounts(from, to)
  }

  /// Moves a file like `rename` within one mount; if it is killed in between, the file is in both places.
  func moveAcrossMounts(_ from: String, _ to: String) throws(StorageError) {
    try AtomicFile.copy(from, to: to, replacing: true)
    do throws(StorageError) {
      // The copy's name must also be on the disk before the file is removed.
      try FolderTree.synchronize(parentFolder(to))
      guard unlink(from) == 0 else { throw StorageError("move \(from)", errno: errno) }
    } catch {
      unlink(to)
      throw error
    }
  }

  private func synchronize(_ folders: Set<String>) throws(StorageError) {
    for folder in folders where access(folder, F_OK) == 0 { try FolderTree.synchronize(folder) }
  }
}
