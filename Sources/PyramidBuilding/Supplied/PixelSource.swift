public import TileGeometry

/// Pixels that a program makes itself, for `PyramidBuilder.build(_:to:name:progress:)`.
///
/// The builder reads every row once, from top to bottom, on one thread at a time that is not the caller's.
public protocol PixelSource: SendableMetatype {
  /// Image pixels from left to right, 1 to 10,000,000.
  var width: Int { get }
  /// Image pixels from top to bottom, 1 to 10,000,000.
  var height: Int { get }
  /// Samples of a pixel: 1 (gray), 2 (gray and alpha), 3 (red, green and blue) or 4 (red, green, blue and alpha).
  ///
  /// Colours are sRGB, and gray has its transfer function. Alpha is linear, and colours are not multiplied by it.
  var bands: Int { get }
  /// 8 or 16.
  var bitsPerSample: Int { get }
  /// The size of an image pixel in microns, across (`x`) and down (`y`); `nil`, the default, if it is unknown.
  var micronsPerPixel: Point? { get }

  /// Writes rows of pixels into memory.
  ///
  /// - Parameters:
  ///   - rows: rows of the image, 0 at the top: at least one, and directly below those of the call before.
  ///   - bytes: `rows.count × width × bands` samples, row by row and pixel by pixel without gaps. 16-bit samples have
  ///     the byte order of the processor, and 65535 is white. Rows that are not written have arbitrary content.
  /// - Throws: any error. The build then ends with a `BuildError` of kind `unreadableSource` whose reason contains it,
  ///   or with the error itself if it is a `BuildError`.
  mutating func read(rows: Range<Int>, into bytes: inout MutableRawSpan) throws
}

extension PixelSource {
  /// `nil`.
  public var micronsPerPixel: Point? { nil }
}
