import Imaging
import Synchronization
import TileGeometry
import TileStorage

/// Decoded tiles, from memory where they were decoded lately.
final class TileDecoder: Sendable {
  private struct Key: Hashable {
    let generation: UInt64
    let tile: Int
    let stamp: UInt64
    let planar: Bool
  }

  private let cache: Mutex<LeastRecentlyUsed<Key, PixelBuffer>>

  /// - Parameter cacheBytes: of decoded tiles that are kept.
  init(cacheBytes: Int) { cache = Mutex(LeastRecentlyUsed(limit: cacheBytes)) }

  var cachedBytes: Int { cache.withLock { $0.weight } }

  func forget() { cache.withLock { $0.removeAll() } }

  /// - Parameter planar: tiles of JPEG 4:2:0 stay Y, Cb, Cr.
  func pixels(
    of archive: SZIArchive, _ address: TileAddress, planar: Bool, _ codec: TurboJPEG
  ) throws(RenderError) -> PixelBuffer {
    let name = "tile \(address.level)/\(address.column)_\(address.row)"
    guard
      let number = archive.tileIndex(level: address.level, column: address.column, row: address.row),
      let expected = archive.pyramid.rectangle(of: address)
    else { throw RenderError("\(name) is outside the pyramid") }
    let key = Key(
      generation: archive.generation, tile: number,
      stamp: archive.hasStamps ? archive.stamp(of: expected, level: address.level) : 0, planar: planar)
    if let known = cache.withLock({ $0.value(for: key) }) { return known }
    let missing = MissingTiles(decoder: self, archive: archive, codec: codec)
    let pixels: PixelBuffer
    if address.level < archive.coarsestLevel {
      pixels = try missing.shrunk(expected, level: address.level)
    } else if let bytes = archive.tile(number), !bytes.isEmpty {
      do throws(RenderError) {
        pixels = try Self.decode(bytes, planar: planar, codec)
      } catch { throw RenderError("\(name): \(error)") }
    } else if archive.lacks(number) {
      pixels = try missing.blank(expected, level: address.level)
    } else {
      throw RenderError("\(name) cannot be read from its archive")
    }
    guard pixels.width == expected.width, pixels.height == expected.height else {
      throw RenderError(
        "\(name) has \(pixels.width)×\(pixels.height) pixels, not \(expected.width)×\(expected.height)")
    }
    cache.withLock { cache in
      // Asked here, so that nothing comes after `forget`.
      if !archive.isLocked { cache.insert(pixels, for: key, weight: pixels.byteCount + 128) }
    }
    return pixels
  }

  static func decode(
    _ bytes: UnsafeRawBufferPointer, planar: Bool, _ codec: TurboJPEG
  ) throws(RenderError) -> PixelBuffer {
    if bytes.count > 2, bytes[0] == 0xff, bytes[1] == 0xd8, !carriesProfile(bytes),
      let pixels = try codec.decode(bytes, planar: planar)
    {
      return pixels
    }
    do throws(ImagingError) {
      var image = try Image(encoded: bytes, subject: "tile")
      // Pictures are sRGB, whatever space their tiles are in; a profile that does not fit is passed over.
      if image.hasField("icc-profile-data"),
        let converted = try? image.convertedFromEmbeddedProfile(intent: "relative")
      {
        image = converted
      }
      return try PixelBuffer(image.asBytesOfColor())
    } catch { throw RenderError(error) }
  }

  /// Whether an ICC profile stands where builders write it: first, or behind JFIF's header.
  private static func carriesProfile(_ jpeg: UnsafeRawBufferPointer) -> Bool {
    func isSegment(_ at: Int, _ marker: UInt8) -> Bool {
      at + 4 < jpeg.count && jpeg[at] == 0xff && jpeg[at + 1] == marker
    }
    guard isSegment(2, 0xe0) else { return isSegment(2, 0xe2) }
    return isSegment(4 + (Int(jpeg[4]) << 8 | Int(jpeg[5])), 0xe2)
  }
}

extension PixelBuffer {
  /// The pixels of an image of bytes.
  convenience init(_ image: Image) throws(ImagingError) {
    self.init(
      PixelSize(width: image.width, height: image.height)!, .interleaved(bands: image.bands))
    try PixelReader(image).read(rows: image.height, from: 0, to: memory.baseAddress!, stride: plane(0).stride)
  }

  /// Gives `work` the pixels, which are not planes, as an image that must not leave it.
  func withImage<Result>(
    _ work: (Image) throws(ImagingError) -> Result
  ) throws(ImagingError) -> Result {
    guard case .interleaved(let bands) = layout else { preconditionFailure("planes are no image") }
    defer { withExtendedLifetime(self) {} }
    return try work(
      Image(borrowing: UnsafeRawBufferPointer(memory), width: width, height: height, bands: bands))
  }
}
