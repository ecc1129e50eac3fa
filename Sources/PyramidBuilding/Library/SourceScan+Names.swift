import Files
import TileStorage

/// The ids of what was found.
extension SourceScan {
  /// Makes books of folders. Names that differ in how their accents are composed are one here: to some file systems
  /// they are.
  mutating func bindFound() {
    var order: [String] = []
    var books: [String: (folder: String, pages: [(file: Found, folio: String)])] = [:]
    var alone: [Found] = []
    for file in found {
      guard let root = file.root, !ImageFileName.isOfPages(file.path) else {
        alone.append(file)
        continue
      }
      let (folder, below, inBook) = bound(file)
      let id = below.isEmpty ? root : below
      if books[id] == nil {
        order.append(id)
        books[id] = (folder, [])
      }
      // Of bytes: what stands in two folders is not one book.
      if let book = books[id], !book.folder.utf8.elementsEqual(folder.utf8) {
        failures.append(
          BuildError(file.path, "is of a book '\(id)', whose pages are in \(book.folder)"))
      } else {
        books[id]?.pages.append((file, inBook))
      }
    }
    for name in order {
      guard let book = books[name], let id = id(name, of: book.pages[0].file.path) else { continue }
      var count: [String: Int] = [:]
      for page in book.pages { count[ImageFileName.stem(page.folio), default: 0] += 1 }
      var bound: [Source] = []
      var owner: [String: String] = [:]
      for (file, relative) in book.pages {
        let stem = ImageFileName.stem(relative)
        let folio = count[stem]! > 1 ? relative : stem
        guard claims("\(name)/\(folio)", file.path, &owner),
          let page = self.id("\(name)/\(folio)", of: file.path)
        else { continue }
        bound.append(file.source(page, folio: folio))
      }
      sources += bound.sorted { $0.id < $1.id }
      if described.contains(book.folder) { self.books[id] = book.folder }
    }
    found = alone
    nameFound(besides: Set(order))
  }

  /// The folder of the book that a file is a page of, the same below its source root, and what is left of the path: the
  /// nearest folder in which a book is described, or the file's own.
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

  /// Sources that would share an id keep their extensions; those that still do are refused but the first.
  /// - Parameter books: what has its name already.
  mutating func nameFound(besides books: Set<String> = []) {
    var count: [String: Int] = [:]
    for book in books { count[book] = 1 }
    for file in found { count[ImageFileName.stem(file.relative), default: 0] += 1 }
    var owner: [String: String] = [:]
    for file in found {
      let stem = ImageFileName.stem(file.relative)
      let name = count[stem]! > 1 ? file.relative : stem
      guard claims(name, file.path, &owner), let id = id(name, of: file.path) else { continue }
      sources.append(file.source(id))
    }
    found = []
  }

  /// Whether a name is nobody's yet; a failure where it is.
  private mutating func claims(_ name: String, _ path: String, _ owner: inout [String: String]) -> Bool {
    if let other = owner[name] {
      failures.append(BuildError(path, "has the same id '\(name)' as \(other)"))
      return false
    }
    owner[name] = path
    return true
  }

  /// The id that a file's place makes; nil, and a failure, where it makes none, as that of `..jpg`, or one that
  /// begins with a dot or would be taken for a private image's, which no library shows.
  private mutating func id(_ text: String, of path: String) -> ImageID? {
    if let id = ImageID(prefix.map { "\($0)/\(text)" } ?? text), !id.isHidden { return id }
    failures.append(BuildError(path, "would be called '\(text)', as no image can be"))
    return nil
  }
}
