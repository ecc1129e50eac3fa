package import Files
import Foundation
import Glibc
package import TileStorage

/// The images that a build was asked for, each with the id it gets.
package struct SourceScan: Sendable {
  /// One image to build.
  package struct Source: Hashable, Sendable {
    package let path: String
    /// The path below the source root without its extension, `/` between parts.
    package let id: ImageID
    /// Of a book that is a folder of page scans, counted from 1; its book's id is `id` without the last part.
    package var page: Int?
    /// Of a file whose path does not tell its name.
    package var name: String?
    /// Where it was found; nil where nobody looked for it.
    package var root: SourceRoot?

    package init(
      path: String, id: ImageID, page: Int? = nil, name: String? = nil, root: SourceRoot? = nil
    ) {
      (self.path, self.id, self.page, self.name, self.root) = (path, id, page, name, root)
    }
  }

  package private(set) var sources: [Source] = []
  /// Each argument, and whether images were found there.
  package private(set) var roots: [Argument] = []
  /// What was asked for and cannot be built, in the order in which it was met.
  package private(set) var failures: [BuildError] = []
  /// Files in folders that are no images by their names.
  package private(set) var passedOver = 0
  /// Every folder that was searched, and those of the files that were named: what to watch for changes.
  package private(set) var folders: [String] = []

  private var found: [Found] = []
  private var seenFiles: Set<FileKey> = []
  /// Folders that the argument led to already, by whatever links: what is in them is known.
  private var entered: Set<FileKey> = []
  private let isCancelled: @Sendable () -> Bool
  /// Of the argument that is looked at.
  private var filesMet = 0
  private var origin: SourceRoot?

  private struct Found {
    let path: String
    /// Below its source root, with extension.
    let relative: String
    /// The source root's own name; nil for a file that was named itself.
    let root: String?
    let origin: SourceRoot?
  }

  /// One source as it was asked for.
  package struct Argument: Sendable {
    package let text: String
    package let root: SourceRoot
    package let isEmpty: Bool
  }

  private struct FileKey: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  /// - Parameters:
  ///   - arguments: files, folders (searched to any depth) and globs.
  ///   - library: the folder that is built into, which is never searched.
  ///   - asBooks: each folder that holds images is one book, which has the folder's id; its images in natural
  ///     order (`page2` before `page10`) are the pages `id/1`, `id/2`, …
  ///   - isCancelled: asked for each file; true leaves the rest out.
  package init(
    _ arguments: [String], library: String, asBooks: Bool = false,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.isCancelled = isCancelled
    var status = stat()
    let libraryKey = stat(library, &status) == 0 ? Self.key(status) : nil
    for argument in arguments {
      let root = SourceRoot(path: Self.path(ofArgument: argument), isBook: asBooks)
      (origin, filesMet, entered) = (root, 0, [])
      add(argument, libraryKey)
      roots.append(Argument(text: argument, root: root, isEmpty: filesMet == 0))
    }
    if asBooks { bindFound() } else { nameFound() }
  }

  private static func key(_ status: stat) -> FileKey {
    FileKey(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  private mutating func add(_ argument: String, _ library: FileKey?) {
    var status = stat()
    if stat(argument, &status) != 0 {
      let reason = StorageError("", errno: errno).reason
      let matches = argument.contains(where: { "*?[".contains($0) }) ? Self.glob(argument) : []
      if matches.isEmpty { failures.append(BuildError(argument, reason)) }
      for match in matches { add(match, library) }
      return
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      var root = argument
      while root.count > 1, root.hasSuffix("/") { root.removeLast() }
      search(root, below: "", of: Self.name(ofFolder: root), [], library)
    } else {
      folders.append(parentFolder(argument))
      let name = argument.split(separator: "/").last.map(String.init) ?? argument
      addFile(argument, relative: name, of: nil, status)
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
    while let entry = readdir(directory) {
      guard let name = entry.pointee.name else {
        failures.append(BuildError(folder, "holds a file whose name is not UTF-8"))
        continue
      }
      if name.utf8.first != UInt8(ascii: ".") { names.append(name) }
    }
    for name in names.sorted() {
      if isCancelled() { return }
      let path = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
      let inner = relative.isEmpty ? name : "\(relative)/\(name)"
      guard stat(path, &status) == 0 else {
        failures.append(BuildError(path, StorageError("", errno: errno).reason))
        continue
      }
      if status.st_mode & S_IFMT == S_IFDIR {
        search(path, below: inner, of: root, above.union([key]), library)
      } else if ImageFileName.isKnown(name) {
        addFile(path, relative: inner, of: root, status)
      } else if !name.lowercased().hasSuffix(SidecarFile.ending) {
        passedOver += 1
      }
    }
  }

  /// The same file met twice (named and in a folder, or by a link) is built once.
  private mutating func addFile(_ path: String, relative: String, of root: String?, _ status: stat) {
    filesMet += 1
    guard seenFiles.insert(Self.key(status)).inserted else { return }
    found.append(Found(path: path, relative: relative, root: root, origin: origin))
  }

  /// What tells an argument from others, wherever the program was started: absolute, but a link that is named
  /// stays one, for what it leads to may be another folder every night.
  private static func path(ofArgument argument: String) -> String {
    var path = argument
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    if [".", "..", ""].contains(name) { return resolved(path) }
    let folder = resolved(parentFolder(path))
    return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
  }

  private static func resolved(_ path: String) -> String {
    guard let buffer = realpath(path, nil) else {
      return URL(fileURLWithPath: path).standardizedFileURL.path
    }
    defer { free(buffer) }
    return String(cString: buffer)
  }

  /// Also of `.` and of a link: what a person calls the folder.
  private static func name(ofFolder path: String) -> String {
    let name = URL(fileURLWithPath: path).standardizedFileURL.lastPathComponent
    return name == "/" ? "book" : name
  }

  /// Makes books of folders. Names that differ in how their accents are composed are one here: to some file systems
  /// they are.
  private mutating func bindFound() {
    var order: [String] = []
    var pages: [String: [Found]] = [:]
    for file in found {
      guard let root = file.root else {
        failures.append(BuildError(file.path, "is a file; --book takes folders of page scans"))
        continue
      }
      let folder = parentFolder(file.relative)
      let id = folder == "." ? root : folder
      if pages[id] == nil { order.append(id) }
      // Of bytes: what stands in two folders is not one book.
      if let first = pages[id]?.first,
        !parentFolder(first.path).utf8.elementsEqual(parentFolder(file.path).utf8)
      {
        failures.append(
          BuildError(file.path, "is of a book '\(id)', whose pages are in \(parentFolder(first.path))"))
      } else {
        pages[id, default: []].append(file)
      }
    }
    for name in order {
      guard let id = id(name, of: pages[name]![0].path) else { continue }
      let sorted = pages[name]!.sorted { $0.path.compare($1.path, options: [.numeric]) == .orderedAscending }
      for (number, file) in zip(1..., sorted) {
        sources.append(Source(path: file.path, id: id.page(number), page: number, root: file.origin))
      }
    }
    found = []
  }

  /// Sources that would share an id keep their extensions; those that still do are refused but the first.
  private mutating func nameFound() {
    var count: [String: Int] = [:]
    for file in found { count[ImageFileName.stem(file.relative), default: 0] += 1 }
    var owner: [String: String] = [:]
    for file in found {
      let stem = ImageFileName.stem(file.relative)
      let name = count[stem]! > 1 ? file.relative : stem
      if let other = owner[name] {
        failures.append(BuildError(file.path, "has the same id '\(name)' as \(other)"))
      } else if let id = id(name, of: file.path) {
        owner[name] = file.path
        sources.append(Source(path: file.path, id: id, root: file.origin))
      }
    }
    found = []
  }

  /// The id that a file's place makes; nil, and a failure, where it makes none, as that of `..jpg`.
  private mutating func id(_ text: String, of path: String) -> ImageID? {
    if let id = ImageID(text) { return id }
    failures.append(BuildError(path, "would be called '\(text)', as no image can be"))
    return nil
  }

  private static func glob(_ pattern: String) -> [String] {
    var result = glob_t()
    defer { globfree(&result) }
    guard Glibc.glob(pattern, 0, nil, &result) == 0 else { return [] }
    return (0..<Int(result.gl_pathc)).compactMap { index in
      result.gl_pathv[index].flatMap { String(validatingCString: $0) }
    }
  }
}
