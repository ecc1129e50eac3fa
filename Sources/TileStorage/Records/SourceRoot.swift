package import ZigguratFiles

/// The origin of sources: a folder, a file or a pattern of names, read as pictures or as books.
///
/// Stores record it beside an archive, never in it. The path of a source belongs to this machine alone. The same source
/// and options give the same bytes on every machine and at every mount point.
package struct SourceRoot: Hashable, Sendable {
  /// 16 hexadecimal digits, which distinguish roots and do not reveal their paths.
  package let text: String

  /// Creates the root of a build's source.
  ///
  /// - Parameters:
  ///   - path: absolute; its last component is spelled as the user gave it.
  ///   - isBook: whether its folders were read as books.
  package init(path: String, isBook: Bool) { self.init(path: path, isBook: isBook, prefix: nil) }

  package init(_ place: SourcePlace) {
    self.init(path: place.path, isBook: place.isBook, prefix: place.prefix)
  }

  /// - Parameter prefix: the beginning of its images' ids; with another one it is another root.
  package init(path: String, isBook: Bool, prefix: ImageID?) {
    let suffix = prefix.map { "\0\($0)" } ?? ""
    let name = Array("\(isBook ? "book" : "picture")\0\(path)\(suffix)".utf8)
    let digits = String(name.withUnsafeBytes { Digest.of($0) }, radix: 16)
    text = String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// A store of the source root of each image.
///
/// A later build that finds the sources, even unchanged ones, restores lost entries. An image without an entry has no
/// root.
package protocol OriginStore: Sendable {
  /// Records the roots of images.
  /// - Parameter images: the roots by image id, for the archives that are now in the store.
  func claim(_ images: [ImageID: SourceRoot]) throws(StorageError)

  /// Returns the images from these roots that have not changed since they were claimed, sorted.
  func images(from roots: Set<SourceRoot>) throws(StorageError) -> [ImageID]

  /// Returns the roots that claimed images last, as `SourceRoot.text`, whether or not the archives have changed since.
  /// - Parameter ids: nil for all.
  func owners(of ids: [ImageID]?) throws(StorageError) -> [ImageID: String]

  /// Returns the owners of the images below a folder, each with its images.
  func owners(below folder: ImageID) throws(StorageError) -> [String: [ImageID]]

  /// Returns the root that claimed a book last; nil if none did, or the store keeps no claims of books.
  func owner(ofBook book: ImageID) throws(StorageError) -> String?

  /// Returns the location of a root's pictures; nil if it is unknown.
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

/// The location of a source root's pictures, and the way they are named.
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
