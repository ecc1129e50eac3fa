import TileStorage
import ZigguratFiles
import ZigguratImaging

/// The ids of the found files.
extension SourceScan {
  /// Makes books of folders. Names that differ in how their accents are composed are one here: to some file systems
  /// they are.
  mutating func bindFound() {
    var order: [String] = []
    var books: [String: (folder: String, pages: [(file: Found, folio: String)])] = [:]
    var alone: [Found] = []
    for file in found {
      guard let root = file.root, mayBePage(file) else {
        alone.append(file)
        continue
      }
      let (folder, below, inBook) = bound(file)
      let id = below.isEmpty ? root : below
      if books[id] == nil {
        order.append(id)
        books[id] = (folder, [])
      }
      // Compared by bytes: pages in two folders are not one book.
      if let book = books[id], !book.folder.utf8.elementsEqual(folder.utf8) {
        failures.append(
          BuildError(
            file.path, "is a page of the book '\(id)', whose pages are in \(book.folder) (\(Self.prefixHint))"
          ))
      } else {
        books[id]?.pages.append((file, inBook))
      }
    }
    for name in order {
      guard let book = books[name], let id = id(name, of: book.pages[0].file.path) else { continue }
      let folios = Self.names(book.pages.map(\.folio))
      var bound: [Source] = []
      var owners: [String: Found] = [:]
      for (page, folio) in zip(book.pages, folios) {
        guard isFirst(page.file, of: "\(name)/\(folio)", &owners),
          let id = self.id("\(name)/\(folio)", of: page.file.path)
        else { continue }
        bound.append(page.file.source(id, folio: folio))
      }
      bound.sort { $0.id < $1.id }
      sources += bound
      doubtOrder(of: bound, in: book.folder)
      if described.contains(book.folder) { self.books[id] = book.folder }
    }
    let folders = Set(books.values.map(\.folder))
    let mixed = Dictionary(grouping: alone.filter { $0.root != nil }) { parentFolder($0.path) }
    for (folder, documents) in mixed.sorted(by: { $0.key < $1.key }) where folders.contains(folder) {
      doubts.append(
        BuildError(
          folder,
          "has \(documents.count == 1 ? "a file" : "\(documents.count) files") of several pages, or not readable, among the "
            + "pages of a book; each is a book by itself"))
    }
    found = alone
    nameFound(besides: Set(order))
  }

  /// Whether a file is a page if it lies in the folder of a book: a PDF or TIFF has to have one page.
  private func mayBePage(_ file: Found) -> Bool {
    guard ImageFileName.isOfPages(file.path) || hasSeveralPictures(file) else { return true }
    return file.root != nil && file.remote == nil && !isCancelled() && pageCount?(file.path) == 1
  }

  /// Whether a file on this machine is a TIFF with several pictures that may be pages, by its directories alone.
  private func hasSeveralPictures(_ file: Found) -> Bool {
    guard !isCancelled(), file.remote == nil, ImageFileName.isTIFF(file.path),
      let source = try? SourceFile(path: file.path),
      let contents = SourceContents(source)
    else { return false }
    return contents.pages.count > 1
  }

  /// Warns if capitals decide the order of pages, which is that of ids: `B` stands before `a`.
  ///
  /// - Parameter pages: in their order.
  private mutating func doubtOrder(of pages: [Source], in folder: String) {
    let names = pages.compactMap(\.folio)
    let lowered = names.map { (name: $0, key: $0.lowercased()) }
    guard
      let (one, other) = zip(lowered, lowered.dropFirst()).first(where: {
        NaturalOrder.precedes($1.key, $0.key)
      })
    else { return }
    doubts.append(
      BuildError(
        folder,
        "has the page '\(one.name)' before the page '\(other.name)': capitals come before small letters; name the pages "
          + "alike for another order"))
  }

  /// Returns the folder of a page's book, its path below the source root, and the rest of the page's path. The folder
  /// is the nearest one with a book description, or the file's own.
  private func bound(_ file: Found) -> (folder: String, below: String, inBook: String) {
    var folder = parentFolder(file.path)
    var parts = file.relative.split(separator: "/")
    var inBook = [parts.removeLast()]
    let own = (folder, parts.joined(separator: "/"), String(inBook[0]))
    while true {
      if described.contains(folder) {
        return (folder, parts.joined(separator: "/"), inBook.joined(separator: "/"))
      }
      guard let last = parts.popLast() else { return own }
      inBook.insert(last, at: 0)
      folder = parentFolder(folder)
    }
  }

  /// Names the files that were found. Sources that would share an id keep their extensions. Of those that still share
  /// one, which have the same path below different arguments, the first is built and the others are refused.
  /// - Parameter books: ids of books.
  mutating func nameFound(besides books: Set<String> = []) {
    let names = Self.names(found.map(\.relative), besides: books)
    var owners: [String: Found] = [:]
    for (file, name) in zip(found, names) {
      if books.contains(name) {
        failures.append(BuildError(file.path, "has the same id '\(name)' as a book (\(Self.prefixHint))"))
      } else if isFirst(file, of: name, &owners), let id = id(name, of: file.path) {
        sources.append(file.source(id))
      }
    }
    found = []
  }

  /// Returns the names of files: without their extensions if no other file has the name then. Files with the same path
  /// get the same name.
  /// - Parameters:
  ///   - paths: below the source root.
  ///   - taken: names that no file may have without its extension.
  private static func names(_ paths: [String], besides taken: Set<String> = []) -> [String] {
    var names = paths.map { ImageFileName.stem($0) }
    // Names of files with different paths; the whole path of a file may be the stem of another, as `a.pdf` is that of
    // `a.pdf.png`.
    while true {
      var first: [String: Int] = [:]
      var shared: Set<String> = []
      for (index, name) in names.enumerated() {
        guard let other = first[name] else {
          first[name] = index
          if taken.contains(name) { shared.insert(name) }
          continue
        }
        if paths[other] != paths[index] { shared.insert(name) }
      }
      var hasChanged = false
      for (index, name) in names.enumerated() where shared.contains(name) && name != paths[index] {
        names[index] = paths[index]
        hasChanged = true
      }
      if !hasChanged { return names }
    }
  }

  /// Refuses sources whose archives would lie in a folder that has the name of another source's archive.
  mutating func refuseFoldersOfArchives() {
    guard sources.contains(where: { $0.id.archiveFolder != nil }) else { return }
    let ids = Set(sources.map(\.id))
    sources.removeAll { source in
      guard let folder = source.id.archiveFolder, folder.name.hasSuffix(".szi"),
        let image = folder.dropping(4), ids.contains(image)
      else { return false }
      failures.append(
        BuildError(
          source.path,
          "would lie in the library's folder '\(folder)', but the archive of '\(image)' has that name; rename the folder"
        ))
      return true
    }
  }

  /// A suggestion for sources that have the same ids.
  static let prefixHint = "--prefix NAME gives the images of this source other ids"

  /// Returns whether no other file has the name yet; otherwise adds a failure.
  private mutating func isFirst(_ file: Found, of name: String, _ owners: inout [String: Found]) -> Bool {
    guard let other = owners[name] else {
      owners[name] = file
      return true
    }
    var reason = "has the same id '\(name)' as \(other.path)"
    if file.relative == other.relative, !file.relative.utf8.elementsEqual(other.relative.utf8) {
      // To some file systems, and in the catalog, the two are one.
      reason += "; only the composition of accents differs: \(Self.escaped(file.relative)) and "
      reason += "\(Self.escaped(other.relative)); rename one"
    } else if file.origin != other.origin {
      reason += " (\(Self.prefixHint))"
    }
    failures.append(BuildError(file.path, reason))
    return false
  }

  /// Returns the text with `\u{…}` for non-ASCII characters.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.map {
      $0.isASCII ? String($0) : "\\u{\(String($0.value, radix: 16, uppercase: true))}"
    }
    .joined()
  }

  /// The id that a file's place makes; nil, and a failure, where it makes none, as that of `..jpg`, or one that
  /// begins with a dot or would be taken for a private image's, which no library shows.
  private mutating func id(_ text: String, of path: String) -> ImageID? {
    if let id = ImageID(prefix.map { "\($0)/\(text)" } ?? text), !id.isHidden { return id }
    failures.append(BuildError(path, "would be called '\(text)', as no image can be"))
    return nil
  }
}
