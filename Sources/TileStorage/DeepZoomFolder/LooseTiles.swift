/// Tiles that do not lie in one mapped file as they are sent. Bytes that were given live as long as this.
public protocol LooseTiles: AnyObject, Sendable {
  /// Nil where there is no such tile or it cannot be read.
  func tile(_ number: Int) -> UnsafeRawBufferPointer?

  /// The tile, and what tells this version of it from those before it.
  func stampedTile(_ number: Int) -> (bytes: UnsafeRawBufferPointer, stamp: UInt64)?

  /// The same stamp without the tile; nil where there is no such tile.
  func stamp(ofTile number: Int) -> UInt64?

  /// Whether tiles change while the image's generation stays.
  var hasStamps: Bool { get }

  /// Which levels have any tiles.
  var levels: LevelSet { get }

  /// Whether a tile of a level that has others was left out by whoever wrote them.
  func lacks(_ number: Int) -> Bool

  /// Bytes that are not a tile, as `SZIArchive.entry` gives them.
  func entry(_ relativeName: String) -> UnsafeRawBufferPointer?

  /// Whether it holds so much that the image should be opened anew.
  var isWornOut: Bool { get }

  /// Whether what it gave must not be kept any longer by anyone: the private space is locked.
  var isLocked: Bool { get }

  /// Whether a tile could not be read a moment ago for want of memory or descriptors, which is not its fault.
  var wasHeldUp: Bool { get }
}

/// What is so of tiles that are all there and never change.
extension LooseTiles {
  public func stampedTile(_ number: Int) -> (bytes: UnsafeRawBufferPointer, stamp: UInt64)? {
    tile(number).map { ($0, 0) }
  }

  public func stamp(ofTile number: Int) -> UInt64? { 0 }

  public var hasStamps: Bool { false }

  public var levels: LevelSet { .all }

  public func lacks(_ number: Int) -> Bool { false }

  public var wasHeldUp: Bool { false }
}
