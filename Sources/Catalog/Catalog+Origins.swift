import Glibc
package import TileStorage
package import ZigguratFiles

/// The source roots of a library's archives.
///
/// All other data of a catalog can be read from the archives; this cannot. A row is valid only while its archive has
/// the size and time that were claimed. An archive that somebody else has replaced has no owner.
package struct LibraryOrigins: OriginStore {
  private let library: String
  package let catalog: Catalog

  package init(library: String, catalog: Catalog) {
    self.library = library
    self.catalog = catalog
  }

  package func claim(_ images: [ImageID: SourceRoot]) throws(StorageError) {
    let known = try catalog.knownOrigins(of: images.count > 500 ? nil : Array(images.keys))
    var claims: [Catalog.Origin] = []
    var sources: [Catalog.BuiltSource] = []
    for (id, root) in images {
      guard let file = identity(id) else { continue }
      let claim = Catalog.Origin(id: id, root: root.text, file: file)
      guard known[id] != claim else { continue }
      claims.append(claim)
      guard let record = FolderStore(library: library).buildRecord(ofID: id) else { continue }
      sources.append(Catalog.BuiltSource(id: id, digest: record.sourceDigest, options: record.options))
    }
    try catalog.claim(claims, sources)
  }

  /// Claims a temporary id, which belongs to no source, before an image's archive gets it. If the archive keeps that
  /// id, its root is still known.
  package func claim(_ id: ImageID, as other: ImageID) throws(StorageError) {
    guard let known = try catalog.knownOrigins(of: [other])[other] else {
      throw StorageError("move \(other)", "its source is unknown")
    }
    try catalog.claim(
      [Catalog.Origin(id: id, root: known.root, size: known.size, modified: known.modifiedNanoseconds)], [])
  }

  /// Stores the places of the roots' pictures.
  package func remember(_ places: [SourceRoot: SourcePlace]) throws(StorageError) {
    try catalog.remember(places)
  }

  package func owners(of ids: [ImageID]?) throws(StorageError) -> [ImageID: String] {
    // A statement takes a limited number of parameters.
    guard let ids, ids.count > 500 else { return try catalog.owners(of: ids) }
    let wanted = Set(ids)
    return try catalog.owners(of: nil).filter { wanted.contains($0.key) }
  }

  package func owners(below folder: ImageID) throws(StorageError) -> [String: [ImageID]] {
    try catalog.owners(below: folder)
  }

  package func owner(ofBook book: ImageID) throws(StorageError) -> String? {
    try catalog.owner(ofBook: book)
  }

  /// Remembers the roots that own books.
  package func claim(books: [ImageID: SourceRoot]) throws(StorageError) {
    try catalog.claim(books: books)
  }

  package func place(ofRoot root: String) throws(StorageError) -> SourcePlace? {
    try catalog.place(ofRoot: root)
  }

  package func images(from roots: Set<SourceRoot>) throws(StorageError) -> [ImageID] {
    try catalog.origins(ofRoots: roots.map(\.text)).filter { origin in
      identity(origin.id).map { $0.isSameVersion(as: origin) } ?? false
    }.map(\.id).sorted()
  }

  private func identity(_ id: ImageID) -> FileIdentity? {
    var status = stat()
    guard stat(id.archive(in: library), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return FileIdentity(status)
  }
}

extension Catalog {
  /// Whether the source of any image is known; true if the catalog cannot be read.
  package var hasOrigins: Bool {
    do throws(StorageError) { return try integer("SELECT 1 FROM origin LIMIT 1") != nil } catch {
      return true
    }
  }

  /// An archive's claimed origin.
  struct Origin: Hashable {
    let id: ImageID
    let root: String
    let size: Int
    let modifiedNanoseconds: Int

    init(id: ImageID, root: String, size: Int, modified: Int) {
      self.id = id
      self.root = root
      self.size = size
      modifiedNanoseconds = modified
    }

    init(id: ImageID, root: String, file: FileIdentity) {
      self.init(id: id, root: root, size: file.size, modified: file.modifiedNanoseconds)
    }
  }

  func claim(_ origins: [Origin], _ sources: [BuiltSource]) throws(StorageError) {
    guard !origins.isEmpty else { return }
    try write { (connection) throws(SQLError) in
      try connection.runEach(
        CatalogSchema.learnSource, sources.map { [.text($0.id.text), .text($0.digest), .text($0.options)] })
      try connection.runEach(
        CatalogSchema.claim,
        origins.map {
          [.text($0.id.text), .text($0.root), .integer($0.size), .integer($0.modifiedNanoseconds)]
        })
    }
  }

  func owners(below folder: ImageID) throws(StorageError) -> [String: [ImageID]] {
    // The byte after the slash ends the range.
    let found = try rows(
      "SELECT id, root FROM origin WHERE id > ? AND id < ?", [.text("\(folder)/"), .text("\(folder)0")],
      Self.owner)
    return Dictionary(grouping: found, by: \.root).mapValues { $0.map(\.id) }
  }

  func owner(ofBook book: ImageID) throws(StorageError) -> String? {
    try rows("SELECT root FROM book_origin WHERE id = ?", [.text(book.text)]) { $0.text(0) }.first
  }

  func claim(books: [ImageID: SourceRoot]) throws(StorageError) {
    var claims: [[SQLValue]] = []
    for (book, root) in books where try owner(ofBook: book) != root.text {
      claims.append([.text(book.text), .text(root.text)])
    }
    guard !claims.isEmpty else { return }
    try write { (connection) throws(SQLError) in
      try connection.runEach(
        "INSERT INTO book_origin (id, root) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET root = excluded.root",
        claims)
    }
  }

  func origins(ofRoots roots: [String]) throws(StorageError) -> [Origin] {
    var found: [Origin] = []
    try read { (connection) throws(SQLError) in
      found = []
      // There may be thousands of sources, so each has its own query.
      for root in roots {
        found += try connection.rows(
          "SELECT id, bytes, modified FROM origin WHERE root = ?", [.text(root)]
        ) { row in
          row.id(0).map { Origin(id: $0, root: root, size: row.integer(1), modified: row.integer(2)) }
        }
      }
    }
    return found
  }
}

extension FileIdentity {
  /// Whether the file is the claimed version. A copy that keeps its time is the same version, on any disk.
  fileprivate func isSameVersion(as origin: Catalog.Origin) -> Bool {
    size == origin.size && modifiedNanoseconds == origin.modifiedNanoseconds
  }
}
