import Synchronization
import TileGeometry
import TileStorage
import ZigguratImaging

/// A decoder of tiles with a cache of recently decoded ones.
final class TileDecoder: Sendable {
  private struct Key: Hashable {
    let generation: UInt64
    let tile: Int
    let version: UInt64
    let planar: Bool
  }

  private let cache: Mutex<LRUCache<Key, PixelBuffer>>

  /// - Parameter cacheBytes: the maximum size of decoded tiles in the cache.
  init(cacheBytes: Int) { cache = Mutex(LRUCache(limit: cacheBytes)) }

  var cachedBytes: Int { cache.withLock { $0.weight } }

  func forget() { cache.withLock { $0.removeAll() } }

  /// Returns the pixels of a tile.
  /// - Parameter planar: whether tiles of JPEG 4:2:0 stay Y, Cb, Cr.
  func pixels(
    of archive: TileArchive, _ address: TileAddress, planar: Bool, _ codec: TurboJPEG,
    _ cancellation: Cancellation
  ) throws(RenderError) -> PixelBuffer {
    try cancellation.check()
    let name = "tile \(address.level)/\(address.column)_\(address.row)"
    guard
      let number = archive.tileIndex(level: address.level, column: address.column, row: address.row),
      let expected = archive.pyramid.rectangle(of: address)
    else { throw RenderError("\(name) is outside the pyramid") }
    let key = Self.key(number, address, expected, of: archive, planar: planar)
    if let known = cache.withLock({ $0.value(for: key) }) { return known }
    let missing = MissingTiles(decoder: self, archive: archive, codec: codec, cancellation: cancellation)
    let pixels: PixelBuffer
    if address.level < archive.coarsestLevel {
      pixels = try missing.shrunk(expected, level: address.level)
    } else {
      switch archive.waitForTile(number) {
      case .here(let bytes, _) where !bytes.isEmpty:
        do throws(RenderError) {
          pixels = try Self.decode(
            bytes, as: archive.format, size: PixelSize(width: expected.width, height: expected.height)!,
            planar: planar, codec)
        } catch { throw RenderError("\(name): \(error)", isDamage: true) }
      case .notFound: pixels = try missing.blank(expected, level: address.level)
      case .pending, .unreachable:
        throw RenderError("\(name) is not available at present", isTemporary: true)
      case .here, .unreadable: throw RenderError("\(name) cannot be read from its archive", isDamage: true)
      }
    }
    cache.withLock { cache in
      // Checked here, so that nothing is inserted after `forget`.
      if !archive.isLocked { cache.insert(pixels, for: key, weight: pixels.byteCount + 128) }
    }
    return pixels
  }

  /// Returns the JPEG from which the tile was made; nil if there was none, or the tile is not stored.
  func jpeg(of archive: TileArchive, _ address: TileAddress) -> [UInt8]? {
    guard
      let number = archive.tileIndex(level: address.level, column: address.column, row: address.row),
      let place = archive.pyramid.rectangle(of: address), address.level >= archive.coarsestLevel,
      let bytes = archive.tile(number)
    else { return nil }
    return Image.jpeg(inTile: bytes, archive.format, width: place.width, height: place.height)
  }

  /// Whether the cache contains the decoded tile.
  func has(_ number: Int, of archive: TileArchive, planar: Bool) -> Bool {
    guard let address = archive.pyramid.address(at: number),
      let expected = archive.pyramid.rectangle(of: address)
    else { return false }
    let key = Self.key(number, address, expected, of: archive, planar: planar)
    return cache.withLock { $0.value(for: key) != nil }
  }

  private static func key(
    _ number: Int, _ address: TileAddress, _ expected: PixelRect, of archive: TileArchive, planar: Bool
  ) -> Key {
    Key(
      generation: archive.generation, tile: number,
      version: archive.hasTileVersions ? archive.version(of: expected, level: address.level) : 0,
      planar: planar)
  }

  /// Decodes a tile with the decoder of its archive's format and no other, independent of its bytes.
  ///
  /// - Parameter size: the expected size in pixels, compared with its header before memory is allocated for pixels.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, as format: TileFormat, size: PixelSize, planar: Bool, _ codec: TurboJPEG
  ) throws(RenderError) -> PixelBuffer {
    if format == .jpeg, ImageFormat(start: bytes) == .jpeg, !carriesProfile(bytes),
      let pixels = try codec.decode(bytes, size: size, planar: planar)
    {
      return pixels
    }
    var image: Image
    do throws(TileError) {
      image = try .tile(bytes, format, width: size.width, height: size.height)
    } catch {
      switch error {
      case .misfit(let clause): throw RenderError("it \(clause)")
      case .damaged(let error): throw RenderError(error)
      }
    }
    do throws(ImagingError) {
      // Pictures are sRGB in all cases, also if their tiles are not; an invalid profile is ignored.
      if image.hasField("icc-profile-data"),
        let converted = try? image.convertedFromEmbeddedProfile(intent: "relative")
      {
        image = converted
      }
      return try PixelBuffer(image.asBytesOfColor())
    } catch { throw RenderError(error) }
  }

  /// Whether the file has an ICC profile where builders write it: first, or behind JFIF's header.
  static func carriesProfile(_ jpeg: UnsafeRawBufferPointer) -> Bool {
    func isSegment(_ at: Int, _ marker: UInt8) -> Bool {
      at + 4 < jpeg.count && jpeg[at] == 0xff && jpeg[at + 1] == marker
    }
    guard isSegment(2, 0xe0) else { return isSegment(2, 0xe2) }
    return isSegment(4 + (Int(jpeg[4]) << 8 | Int(jpeg[5])), 0xe2)
  }
}

extension PixelSize {
  /// Returns the size itself if a tile's header states the same; otherwise throws.
  func checked(width: Int, height: Int) throws(RenderError) -> PixelSize {
    guard width == self.width, height == self.height else {
      throw RenderError("it has \(width)×\(height) pixels, not \(self.width)×\(self.height)")
    }
    return self
  }
}

extension PixelBuffer {
  /// Creates a buffer with the pixels of an image of bytes.
  convenience init(_ image: Image) throws(ImagingError) {
    self.init(
      PixelSize(width: image.width, height: image.height)!, .interleaved(image.pixelBands))
    try PixelReader(image).read(rows: image.height, from: 0, to: memory.baseAddress!, stride: plane(0).stride)
  }

  /// Passes the pixels, which are not planes, to `work` as an image that must not escape. Operations on it fail after
  /// the cancellation is requested.
  func withImage<Result>(
    until cancellation: Cancellation, _ work: (Image) throws(ImagingError) -> Result
  ) throws(ImagingError) -> Result {
    defer { withExtendedLifetime(self) {} }
    let image = Image(
      borrowing: UnsafeRawBufferPointer(memory), width: width, height: height, bands: layout.bands)
    image.end { cancellation.isAsked }
    return try work(image)
  }
}
