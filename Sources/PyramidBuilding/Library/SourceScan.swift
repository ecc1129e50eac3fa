import Foundation
import Glibc
package import TileStorage
package import ZigguratFiles
import ZigguratImaging

/// The images that a build was asked for, each with the id it gets.
package struct SourceScan: Sendable {
  /// One image to build.
  package struct Source: Hashable, Sendable {
    package let path: String
    /// The path below the source root without its extension, `/` between parts.
    package let id: ImageID
    /// The name of the page in a book that is a folder of scans, which ends `id`; nil for any other image.
    package var folio: String?
    /// The name of a file whose path does not have it; nil for any other file.
    package var name: String?
    /// The root that contained it; nil if it was not found by a search.
    package var root: SourceRoot?
    /// The version of the file when the build was planned; nil if it was not.
    package var planned: SourcePlan.Version?
    /// The file that is copied before the build; nil for a file of this machine.
    package var remote: RemoteFile?
    /// The sidecar of a remote source; nil if there is none.
    package var sidecar: RemoteFile?
    /// The folder that links of the file and its sidecar must not lead out of; nil if links are followed.
    package var enclosure: String?

    /// The id of the book that is a folder, of its page.
    var book: ImageID? { folio.flatMap { id.dropping($0.utf8.count + 1) } }

    package init(
      path: String, id: ImageID, folio: String? = nil, name: String? = nil, root: SourceRoot? = nil
    ) {
      self.path = path
      self.id = id
      self.folio = folio
      self.name = name
      self.root = root
    }
  }

  package internal(set) var sources: [Source] = []
  /// The arguments of the build.
  package private(set) var roots: [Argument] = []
  /// The errors of arguments and files that cannot be built, in the order in which they were met.
  package internal(set) var failures: [BuildError] = []
  /// Warnings about the found files.
  package internal(set) var doubts: [BuildError] = []
  /// The number of files in folders that are not images by their names.
  package private(set) var passedOver = 0
  /// Links in folders that lead out of them and were passed over: at most `maxLinks` of their paths.
  package private(set) var links: [String] = []
  package private(set) var linkCount = 0
  /// The ids that the images behind these links would have, or begin with: nothing of them is pruned.
  private(set) var linkedIDs: Set<ImageID> = []
  private static let maxLinks = 10
  /// All searched folders, and those of files that were named: the folders to watch for changes.
  package private(set) var folders: [String] = []
  /// Folders below the arguments that hold nothing but hidden files.
  package private(set) var emptyFolders: [EmptyFolder] = []
  /// Folders of the books that are described there, by the books' ids.
  package internal(set) var books: [ImageID: String] = [:]

  var found: [Found] = []
  /// Folders in which a book is described.
  var described: Set<String> = []
  private let asBooks, followsLinks: Bool
  let pageCount: (@Sendable (_ path: String) -> Int?)?
  private var seenFiles: Set<FileKey> = []
  /// Addresses elsewhere, as bytes: those that differ in how their accents are composed are two.
  var seenAddresses: Set<[UInt8]> = []
  /// Folders that the argument has already led to, through any links; their content is known.
  private var entered: Set<FileKey> = []
  let prefix: ImageID?
  let mayBeMissing: Bool
  /// Whether nothing of the argument exists that is looked at.
  var isMissing = false
  let isCancelled: @Sendable () -> Bool
  private let onPassedOver: @Sendable (_ path: String, _ reason: String) -> Void
  /// The number of files met for the argument that is looked at.
  var filesMet = 0
  var origin: SourceRoot?
  /// The folder that is searched, without links; nil if links are followed.
  private var enclosure: (path: String, folder: RootDirectory)?

  struct Found {
    let path: String
    /// Below its source root, with extension.
    let relative: String
    /// The source root's own name; nil for a file that was named itself.
    let root: String?
    let origin: SourceRoot?
    /// It, and its sidecar, where they lie in no folder.
    var remote, sidecar: RemoteFile?
    var enclosure: String?

    func source(_ id: ImageID, folio: String? = nil) -> Source {
      var source = Source(path: path, id: id, folio: folio, root: origin)
      source.remote = remote
      source.sidecar = sidecar
      source.enclosure = enclosure
      return source
    }
  }

  /// A folder without files.
  package struct EmptyFolder: Sendable {
    package let path: String
    package let root: SourceRoot
    /// The ids that its images would begin with.
    let ids: [ImageID]
  }

  /// An argument with sources.
  package struct Argument: Sendable {
    /// The argument as it was given.
    package let text: String
    package let place: SourcePlace
    package let root: SourceRoot
    package let isEmpty: Bool
    /// Whether nothing of that name exists.
    package let isMissing: Bool

    init(text: String, place: SourcePlace, isEmpty: Bool, isMissing: Bool = false) {
      self.text = text
      self.place = place
      self.isEmpty = isEmpty
      self.isMissing = isMissing
      root = SourceRoot(place)
    }
  }

  private struct FileKey: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  /// - Parameters:
  ///   - arguments: files, folders (searched to any depth) and globs.
  ///   - library: the destination folder, which is never searched.
  ///   - asBooks: whether each folder with images is a book with the folder's id. Its images are the pages, by their
  ///     file names in natural order (`page2` before `page10`). A folder with a book description (`BookFile`) includes
  ///     the folders below it. A PDF of one page is a page, and one of several is a book. A file that is named alone is
  ///     an image.
  ///   - prefix: the prefix of all ids, without the slash after it.
  ///   - followsLinks: whether to follow links that lead out of a searched folder. An argument that is a link is always
  ///     followed.
  ///   - remote: the remote storage, if an argument refers to it.
  ///   - mayBeMissing: whether an argument that does not exist counts as empty, not as a failure.
  ///   - pageCount: returns the number of pages of a PDF, or nil if it cannot be read; nil if PDFs are never pages.
  ///   - isCancelled: called for each file; if it returns true, the search ends.
  ///   - onPassedOver: called with each file in a folder that is not an image by its name, and its description.
  package init(
    _ arguments: [String], library: String, asBooks: Bool = false, prefix: ImageID? = nil,
    followsLinks: Bool = false, remote: (any RemoteSources)? = nil, mayBeMissing: Bool = false,
    pageCount: (@Sendable (_ path: String) -> Int?)? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false },
    onPassedOver: @escaping @Sendable (_ path: String, _ reason: String) -> Void = { _, _ in }
  ) {
    self.mayBeMissing = mayBeMissing
    self.pageCount = pageCount
    self.isCancelled = isCancelled
    self.asBooks = asBooks
    self.prefix = prefix
    self.followsLinks = followsLinks
    self.onPassedOver = onPassedOver
    var status = stat()
    let libraryKey = stat(library, &status) == 0 ? Self.key(status) : nil
    for argument in arguments {
      let elsewhere = remote?.isMeant(by: argument) == true ? remote : nil
      let path = elsewhere == nil ? Self.path(ofArgument: argument) : Self.trimmed(argument)
      let place = SourcePlace(path: path, isBook: asBooks, prefix: prefix)
      origin = SourceRoot(place)
      filesMet = 0
      entered = []
      isMissing = false
      if let elsewhere { add(path, of: elsewhere, library) } else { add(argument, libraryKey) }
      roots.append(
        Argument(text: argument, place: place, isEmpty: filesMet == 0, isMissing: isMissing))
    }
    if asBooks { bindFound() } else { nameFound() }
    refuseFoldersOfArchives()
  }

  /// Creates a scan from the results of another one, on another machine.
  init(
    sources: [Source], roots: [Argument], failures: [BuildError], passedOver: Int,
    books: [ImageID: String], linkedIDs: Set<ImageID>
  ) {
    self.linkedIDs = linkedIDs
    self.sources = sources
    self.roots = roots
    self.failures = failures
    self.passedOver = passedOver
    self.books = books
    prefix = nil
    asBooks = false
    isCancelled = { false }
    onPassedOver = { _, _ in }
    followsLinks = false
    mayBeMissing = false
    pageCount = nil
  }

  /// The places of the arguments, by `SourceRoot.text`.
  var places: [String: SourcePlace] {
    Dictionary(roots.map { ($0.root.text, $0.place) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the names of pages in a book that is a folder.
  func pages(of book: ImageID) -> Set<String> {
    Set(sources.lazy.filter { $0.book == book }.compactMap(\.folio))
  }

  private static func key(_ status: stat) -> FileKey {
    FileKey(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  private mutating func add(_ argument: String, _ library: FileKey?) {
    var status = stat()
    if stat(argument, &status) != 0 {
      let error = StorageError("", errno: errno)
      let matches = argument.contains(where: { "*?[".contains($0) }) ? Self.glob(argument) : []
      isMissing = matches.isEmpty && error.kind == .notFound
      if matches.isEmpty, !isMissing || !mayBeMissing { failures.append(BuildError(argument, error.reason)) }
      for match in matches { add(match, library) }
      return
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      var root = argument
      while root.count > 1, root.hasSuffix("/") { root.removeLast() }
      enclosure = followsLinks ? nil : (try? RootDirectory(root)).map { (Self.resolved(root), $0) }
      defer { enclosure = nil }
      search(root, below: "", of: Self.name(ofFolder: root), [], library)
    } else {
      folders.append(parentFolder(argument))
      var file = argument
      if let header = AnalyzePair.header(ofSamplesAt: argument), stat(header, &status) == 0 { file = header }
      let name = file.split(separator: "/").last.map(String.init) ?? file
      addFile(file, relative: name, of: nil, status)
    }
  }

  /// - Parameter above: the folders on the way here: one that is met again is a loop.
  private mutating func search(
    _ folder: String, below relative: String, of root: String, _ above: Set<FileKey>, _ library: FileKey?
  ) {
    var status = stat()
    guard stat(folder, &status) == 0, let directory = opendir(folder) else {
      failures.append(BuildError(folder, StorageError("", errno: errno).reason))
      return
    }
    defer { closedir(directory) }
    let key = Self.key(status)
    if key == library {
      if relative.isEmpty {
        failures.append(BuildError(folder, "is the library itself; name the folder of the pictures"))
      }
      return
    }
    guard !above.contains(key) else {
      failures.append(BuildError(folder, "is a link to a folder above it: a loop"))
      return
    }
    guard entered.insert(key).inserted else { return }
    folders.append(folder)
    var names: [String] = []
    var hidden: [String] = []
    while let entry = readdir(directory) {
      guard let name = entry.pointee.name else {
        failures.append(
          BuildError(folder, "holds a file whose name is not UTF-8: \(entry.pointee.shownName)"))
        continue
      }
      if name.utf8.first != UInt8(ascii: ".") { names.append(name) } else { hidden.append(name) }
    }
    if names.isEmpty, !relative.isEmpty, let origin {
      emptyFolders.append(EmptyFolder(path: folder, root: origin, ids: ids(of: relative, below: root)))
    }
    if let reason = ImageFileName.reasonPassedOver(folderWith: names + hidden) {
      if relative.isEmpty {
        failures.append(BuildError(folder, "is \(reason)"))
      } else {
        passedOver += 1
        onPassedOver(folder, reason)
      }
      return
    }
    let isDescribed =
      asBooks
      && BookFile.isDescribed(
        by: names.filter { ![BookFile.name, BookFile.sidecar].contains($0) || !leadsOut("\(folder)/\($0)") })
    if isDescribed { described.insert(folder) }
    for name in names.sorted() {
      if isCancelled() { return }
      let path = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
      let inner = relative.isEmpty ? name : "\(relative)/\(name)"
      var isThere = lstat(path, &status) == 0
      if isThere, status.st_mode & S_IFMT == S_IFLNK {
        if leadsOut(path) {
          passOver(path, inner, of: root)
          continue
        }
        isThere = stat(path, &status) == 0
      }
      guard isThere else {
        failures.append(BuildError(path, StorageError("", errno: errno).reason))
        continue
      }
      if status.st_mode & S_IFMT == S_IFDIR {
        search(path, below: inner, of: root, above.union([key]), library)
      } else if AnalyzePair.header(ofSamplesAt: path) != nil {
        // The header beside it is the source.
        continue
      } else if ImageFileName.isKnown(name) {
        addFile(path, relative: inner, of: root, status)
      } else if !name.lowercased().hasSuffix(SidecarFile.ending), !(isDescribed && name == BookFile.name) {
        passOver(path)
      }
    }
  }

  /// The same file met twice (named and in a folder, or by a link) is built once.
  private mutating func addFile(_ path: String, relative: String, of root: String?, _ status: stat) {
    filesMet += 1
    guard seenFiles.insert(Self.key(status)).inserted else { return }
    var file = Found(path: path, relative: relative, root: root, origin: origin)
    file.enclosure = enclosure?.path
    found.append(file)
  }

  /// Whether a link leads out of the folder that is searched. One that leads nowhere does not.
  private func leadsOut(_ path: String) -> Bool {
    guard let enclosure, let target = realpath(path, nil) else { return false }
    defer { free(target) }
    return !enclosure.folder.holds(path: String(cString: target))
  }

  /// Passes a file over that is no image by its name.
  mutating func passOver(_ path: String) {
    passedOver += 1
    onPassedOver(path, ImageFileName.reasonPassedOver(path))
  }

  /// Ignores a link. A link counts as an ignored file if it is no folder, and by its name neither an image nor a file
  /// about one.
  private mutating func passOver(_ path: String, _ relative: String, of root: String) {
    var status = stat()
    let isFolder = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    let isImage = ImageFileName.isKnown(path)
    guard
      isFolder || isImage || path.lowercased().hasSuffix(SidecarFile.ending) || path.hasSuffix("/book.json")
    else {
      passOver(path)
      return
    }
    linkCount += 1
    if links.count < Self.maxLinks { links.append(path) }
    guard isFolder || isImage else { return }
    for name in [relative, ImageFileName.stem(relative)] { linkedIDs.formUnion(ids(of: name, below: root)) }
  }

  /// Returns the ids that a path below the searched folder may have.
  private func ids(of relative: String, below root: String) -> [ImageID] {
    // A book that is the searched folder itself has its name in front.
    (asBooks ? [relative, "\(root)/\(relative)"] : [relative]).compactMap { name in
      ImageID(prefix.map { "\($0)/\(name)" } ?? name)
    }
  }

  /// Whether an image may be one behind a link that was passed over.
  func isLinked(_ id: ImageID) -> Bool {
    var each: ImageID? = linkedIDs.isEmpty ? nil : id
    while let id = each {
      if linkedIDs.contains(id) { return true }
      each = id.folder
    }
    return false
  }
}
