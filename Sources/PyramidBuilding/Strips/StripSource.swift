import TileStorage
import ZigguratImaging

/// A source of a pyramid's full-resolution pixels, strip by strip.
protocol StripSource: AnyObject {
  var width: Int { get }
  var height: Int { get }
  var layout: PixelLayout { get }
  /// The changes to the pixels, for the archive's metadata.
  var steps: [String] { get }
  /// Pieces that a strip is decoded in; pieces of a `isParallel` source by any thread, in any order.
  func pieceCount(ofRow row: Int) -> Int
  /// Whether pieces can be decoded side by side. Otherwise one thread decodes strip after strip.
  var isParallel: Bool { get }
  /// One for each thread of a parallel source, else one.
  func makeDecoder() throws(BuildError) -> any StripDecoding
  /// Whether tiles of full resolution come from `makeReadyTiles` instead of out of strips' pixels.
  var hasReadyTiles: Bool { get }
  /// One for each thread; nil exactly where `hasReadyTiles` is false.
  func makeReadyTiles() throws(BuildError) -> (any ReadyTiles)?
  /// DCT coefficients, 16-bit, that a strip of full resolution needs beside or instead of pixels.
  var coefficientsPerStrip: Int { get }
  /// Bytes that the source itself holds while it is read, beside strips.
  var memory: Int { get }
  /// Returns the damage of the source; called when all of its strips have been decoded.
  ///
  /// - Throws: if nothing of it could be decoded.
  func finish() throws(BuildError) -> SourceDamage?

  /// The first sign that the file ends early, which may be less than the worst damage; nil if there is none.
  var truncation: SourceDamage? { get }
}

extension StripSource {
  func pieceCount(ofRow row: Int) -> Int { 1 }
  var isParallel: Bool { false }
  var hasReadyTiles: Bool { false }
  func makeReadyTiles() throws(BuildError) -> (any ReadyTiles)? { nil }
  var coefficientsPerStrip: Int { 0 }
  var memory: Int { 16 << 20 }
  var truncation: SourceDamage? { nil }
  var steps: [String] { [] }
}

/// Decodes strips; used by one thread at a time.
protocol StripDecoding: AnyObject {
  /// Fills the pixels (or coefficients) of one piece of the strip; the blocks of its tiles are there.
  func decode(piece: Int, into strip: Strip) throws(BuildError)
}

/// Tiles of full resolution straight from the source, each by itself. One per thread.
protocol ReadyTiles: AnyObject {
  /// The tile's bytes where the source has them, and its pixels for the level below; both valid until
  /// the next call.
  func tile(_ column: Int, of strip: Strip, width: Int) throws(BuildError) -> (
    bytes: UnsafeRawBufferPointer?, pixels: TilePixels
  )
}
