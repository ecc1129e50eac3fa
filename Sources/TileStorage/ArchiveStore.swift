import Glibc
public import TileGeometry

/// Takes one image's tiles, front to back; the archive is there when `finish` returns, and not before.
///
/// Not for several threads at a time.
public protocol ArchiveWriter: AnyObject {
  /// - Parameters:
  ///   - index: the tile's, as `Pyramid.index(of:)` counts.
  ///   - crc: the CRC-32 of `bytes`.
  func append(tile index: Int, _ bytes: UnsafeRawBufferPointer, crc: UInt32) throws(StorageError)

  /// Appends an entry that is not a tile: `scan-properties.xml`, `associated_images/thumbnail.jpg`.
  func append(_ relativeName: String, _ bytes: [UInt8]) throws(StorageError)

  /// Returns the archive's size in bytes.
  func finish() throws(StorageError) -> Int

  /// Leaves nothing behind; does nothing after `finish`.
  func abandon()
}

/// Where the archives of many images stand, each under its image's id.
public protocol ArchiveStore: Sendable {
  /// Makes what is missing and clears away what killed builders left.
  func prepare() throws(StorageError)

  /// What the archive was built from; nil where there is none or it tells nothing.
  func buildRecord(ofID id: String) -> BuildRecord?

  /// A writer whose archive replaces the image's, if there is one, when it is finished.
  func makeWriter(
    id: String, pyramid: Pyramid, format: TileFormat
  ) throws(StorageError) -> any ArchiveWriter

  /// Of the archives that Ziggurat built, sorted. Those from elsewhere are not among them: what built
  /// them may not be there to build them again.
  func builtIDs() throws(StorageError) -> [String]

  func remove(id: String) throws(StorageError)
}

extension SZIWriter: ArchiveWriter {}

/// A library: an SZI archive per image, in folders as the ids have it.
public struct FolderStore: ArchiveStore {
  public let library: String

  public init(library: String) { self.library = library }

  public func prepare() throws(StorageError) {
    try FolderTree.make(library)
    FolderTree.removeLeftovers(below: library)
  }

  public func buildRecord(ofID id: String) -> BuildRecord? {
    (try? SZIArchive(path: path(ofID: id)))?.buildRecord
  }

  public func makeWriter(
    id: String, pyramid: Pyramid, format: TileFormat
  ) throws(StorageError) -> any ArchiveWriter {
    let destination = path(ofID: id)
    try FolderTree.make(parentFolder(destination))
    return try SZIWriter(
      destination: destination, name: id.split(separator: "/").last.map(String.init) ?? id,
      pyramid: pyramid, format: format)
  }

  public func builtIDs() throws(StorageError) -> [String] {
    // A dry run makes no library.
    if access(library, F_OK) != 0, errno == ENOENT { return [] }
    return try FolderTree.archives(at: library).compactMap { path in
      (try? SZIArchive(path: path))?.buildRecord == nil
        ? nil : String(path.dropFirst(library.count + 1).dropLast(4))
    }
  }

  public func remove(id: String) throws(StorageError) {
    let path = path(ofID: id)
    guard unlink(path) == 0 else { throw StorageError("remove \(path)", errno: errno) }
  }

  private func path(ofID id: String) -> String { "\(library)/\(id).szi" }
}
