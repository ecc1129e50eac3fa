import TileStorage

/// The decoder, encoder and profile with which one thread makes tiles. Not for several threads.
struct TileWorker {
  /// The decoder; nil if another thread decodes.
  let decoder: (any StripDecoding)?
  private let encoder: any TileEncoding
  private let profile: TileProfile?
  private let recompression: JPEGRecompression?
  private let readyTiles: (any ReadyTiles)?
  private let downsampling: Downsampling

  /// - Parameter profile: the ICC profile of every tile.
  init(
    _ source: any StripSource, _ options: BuildOptions, _ custom: (any TileEncoder)?, profile: [UInt8]?,
    decodes: Bool
  ) throws(BuildError) {
    encoder =
      if let custom {
        CustomTileEncoding(custom, bands: source.layout.bands, tileSize: options.tileSize)
      } else {
        try options.encoder(source.layout, profile: profile)
      }
    self.profile = try profile.map { (bytes) throws(BuildError) in
      try TileProfile(bytes, format: options.coding)
    }
    recompression = options.recompressesJPEG ? JPEGRecompression() : nil
    readyTiles = try source.makeReadyTiles()
    decoder = decodes ? try source.makeDecoder() : nil
    downsampling = options.downsampling
  }

  /// Encodes a tile, and shrinks it into its parent while it is in the cache.
  func process(_ column: Int, of strip: Strip, into parent: Strip?) throws(BuildError) {
    var bytes: UnsafeRawBufferPointer?
    let tile: TilePixels
    if strip.shift == 0, let readyTiles {
      (bytes, tile) = try readyTiles.tile(column, of: strip, width: strip.width(ofTile: column))
    } else {
      tile = strip.pixels(ofTile: column)
    }
    tile.repeatOddEdges()
    var encoded = if let bytes { bytes } else { try encoder.encode(tile) }
    if let profile { encoded = try profile.inserted(into: encoded, width: tile.width, height: tile.height) }
    if let recompression { encoded = try recompression.recompressed(encoded) }
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: encoded.count, alignment: 16)
    copy.copyMemory(from: encoded)
    strip.put(
      EncodedTile(bytes: UnsafeRawBufferPointer(copy), crc: checksum(UnsafeRawBufferPointer(copy))),
      column: column)
    guard let parent else { return }
    let quarter = parent.quarter(ofChildTile: column, row: strip.row)
    switch downsampling {
    case .nearest, .mode: NearestDownsampler.halve(tile, into: quarter, takesMode: downsampling == .mode)
    case .linear: LinearDownsampler.halve(tile, into: quarter)
    default: BoxDownsampler.halve(tile, into: quarter)
    }
  }
}
