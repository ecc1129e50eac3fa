/// Tiles that do not lie in one mapped file as they are sent. Bytes that were given live as long as this.
public protocol LooseTiles: AnyObject, Sendable {
  /// Nil where there is no such tile or it cannot be read.
  func tile(_ number: Int) -> UnsafeRawBufferPointer?

  /// Bytes that are not a tile, as `SZIArchive.entry` gives them.
  func entry(_ relativeName: String) -> UnsafeRawBufferPointer?

  /// Whether it holds so much that the image should be opened anew.
  var isWornOut: Bool { get }

  /// Whether what it gave must not be kept any longer by anyone: the private space is locked.
  var isLocked: Bool { get }
}

extension FolderTiles: LooseTiles {
  func entry(_ relativeName: String) -> UnsafeRawBufferPointer? { nil }

  var isLocked: Bool { false }

  /// Each mapped file takes a place in the process's map.
  var isWornOut: Bool { mappedCount > 1024 }
}
