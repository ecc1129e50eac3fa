package import ZigguratFiles

/// Where sources were looked for: a folder, a file or a pattern of names, read as pictures or as books.
///
/// Stores remember it beside an archive, never in it: where a source lies is this machine's own business, and
/// the same source and options give the same bytes on every machine and at every mount point.
package struct SourceRoot: Hashable, Sendable {
  /// 16 hexadecimal digits, which tell one root from another and nobody where it is.
  package let text: String

  /// The root of a build's source.
  ///
  /// - Parameters:
  ///   - path: absolute, its last part as a person calls it.
  ///   - isBook: whether its folders were read as books.
  package init(path: String, isBook: Bool) { self.init(path: path, isBook: isBook, prefix: nil) }

  package init(_ place: SourcePlace) {
    self.init(path: place.path, isBook: place.isBook, prefix: place.prefix)
  }

  /// - Parameter prefix: with what the ids of its images begin; with another it is another root.
  package init(path: String, isBook: Bool, prefix: ImageID?) {
    let suffix = prefix.map { "\0\($0)" } ?? ""
    let name = Array("\(isBook ? "book" : "picture")\0\(path)\(suffix)".utf8)
    let digits = String(name.withUnsafeBytes { Digest.of($0) }, radix: 16)
    text = String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// Remembers from which source root each image of a store came.
///
/// What is lost of it is learned again by the next build that meets the sources, unchanged ones too; an image of
/// which nothing is known came from no root.
package protocol OriginStore: Sendable {
  /// - Parameter images: by their ids, as they are in the store now.
  func claim(_ images: [ImageID: SourceRoot]) throws(StorageError)

  /// The images that came from these roots and are still what was claimed, sorted.
  func images(from roots: Set<SourceRoot>) throws(StorageError) -> [ImageID]

  /// The roots that claimed images last, as `SourceRoot.text`, whether or not the archives have changed since.
  /// - Parameter ids: nil for all.
  func owners(of ids: [ImageID]?) throws(StorageError) -> [ImageID: String]

  /// The owners of the images below a folder, each with its images.
  func owners(below folder: ImageID) throws(StorageError) -> [String: [ImageID]]

  /// The root that claimed a book last; nil if none did, or the store keeps no claims of books.
  func owner(ofBook book: ImageID) throws(StorageError) -> String?

  /// The location of a root's pictures; nil if it is unknown.
  func place(ofRoot root: String) throws(StorageError) -> SourcePlace?
}

extension OriginStore {
  package func owners(below folder: ImageID) throws(StorageError) -> [String: [ImageID]] {
    var owners: [String: [ImageID]] = [:]
    for (id, owner) in try self.owners(of: nil) where id.isBelow(folder) {
      owners[owner, default: []].append(id)
    }
    return owners
  }

  package func owner(ofBook book: ImageID) throws(StorageError) -> String? { nil }

  package func place(ofRoot root: String) throws(StorageError) -> SourcePlace? { nil }
}

/// The location of a source root's pictures, and how they are named.
package struct SourcePlace: Hashable, Sendable {
  /// Absolute path of a folder, a file or a pattern of names.
  package let path: String
  /// Whether its folders are books.
  package let isBook: Bool
  /// The beginning of their ids; nil for none.
  package let prefix: ImageID?

  package init(path: String, isBook: Bool, prefix: ImageID? = nil) {
    self.path = path
    self.isBook = isBook
    self.prefix = prefix
  }
}
