import Synchronization
import TileGeometry
import TileStorage
import ZigguratConcurrency
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileProtocols
import ZigguratTileRendering

/// A viewport's coverage and its tiles in one response. The first part is the JSON of `ViewportResponse`; the tiles
/// follow in the same order. A length of 4 bytes, big-endian, precedes each part.
extension ViewportHandler {
  static let framed = "application/vnd.ziggurat.viewport-tiles"

  func viewportTiles(_ answer: ViewportResponse, _ archive: TileArchive) -> Reply {
    let tiles = answer.tiles
    let crowded = Response.problem(503, "Busy", "too many tiles wait to be sent; try again")
    // Tiles in separate files stay mapped until the response is sent, and the number of mappings is limited.
    let client = request.client
    guard !archive.hasTileVersions || mappedTiles.admits(client, more: tiles.count) else {
      return .response(crowded)
    }
    let hold = archive.hasTileVersions ? mappedTiles.hold(tiles.count, by: client) : nil
    let json = answer.json(of: tiles)
    let failure = Response.problem(500, "Unreadable", "a tile cannot be read from its archive")
    if archive.isRemote {
      archive.expect(
        tiles.compactMap {
          archive.tileIndex(level: $0.address.level, column: $0.address.column, row: $0.address.row)
        })
    }
    var parts: [UnsafeRawBufferPointer] = []
    parts.reserveCapacity(tiles.count)
    var versions: UInt64 = 0
    var pending: [any Pending] = []
    for tile in tiles {
      let address = tile.address
      guard Self.isStored(tile, in: archive) else { return made(tiles, json, archive, failure) }
      guard let number = archive.tileIndex(level: address.level, column: address.column, row: address.row)
      else { return .response(failure) }
      switch archive.stored(number) {
      case .here(let bytes, let version):
        versions = Digest.step(versions, version)
        parts.append(bytes)
      case .pending(let tile): pending.append(tile)
      case .notFound: return made(tiles, json, archive, failure)
      case .unreachable: return .response(crowded)
      case .unreadable:
        reportDamage(address, archive)
        return .response(failure)
      }
    }
    if !pending.isEmpty {
      return waiting(for: AllTiles(tiles: pending)) { $0.viewportTiles(answer, archive) }
    }
    // The JSON has the archive's generation in every tile's URL, so its entity tag covers the tiles, too.
    var response = Response.json(json, Self.framed)
    response["ETag"] = EntityTag(of: json, generation: archive.generation ^ versions).text
    // The generation covers everything except the image's metadata, which can be edited.
    if answer.description == nil, cacheLifetime(of: archive) == .immutable {
      response["Cache-Control"] = lifetime(of: archive)
    }
    var kept: [any AnyObject & Sendable] = [archive]
    if let hold { kept.append(hold) }
    let bytes = ScatterGatherBody(first: json, parts: parts, keeping: kept)
    response.body = .gathered(bytes, 0..<bytes.count)
    return .response(response)
  }

  /// Whether the stored tile has the pixels of `source`. Only Deep Zoom has tiles with overlap.
  private static func isStored(_ tile: CoveredTile, in archive: TileArchive) -> Bool {
    archive.pyramid.overlap == 0 || archive.pyramid.rectangle(of: tile.address) == tile.source
  }

  /// Replies with the same parts if some of the tiles are not stored and must be rendered first.
  private func made(
    _ tiles: [CoveredTile], _ json: [UInt8], _ archive: TileArchive, _ failure: Response
  ) -> Reply {
    let renderer = pictures.renderer
    let format = PictureFormat(archive.format)
    var (version, pixels): (UInt64, Int) = (0, 0)
    let tasks = tiles.map { tile -> RenderTask in
      guard !Self.isStored(tile, in: archive),
        let size = PixelSize(width: tile.source.width, height: tile.source.height)
      else { return .tile(tile.address, format) }
      return .crop(tile.source, level: tile.address.level, paddedTo: size, format)
    }
    for task in tasks {
      version = Digest.step(version, task.version(in: archive))
      pixels += task.cost(in: archive).pixels
    }
    return rendering(
      "tiles \(EntityTag(of: json).text)", version: version, cost: RenderCost(pixels: pixels),
      mediaType: Self.framed,
      archive, failure: failure
    ) { (cancellation) throws(RenderError) in
      var bytes: [UInt8] = []
      func append(_ part: some Collection<UInt8>) {
        withUnsafeBytes(of: UInt32(part.count).bigEndian) { bytes += $0 }
        bytes += part
      }
      append(json)
      for task in tasks {
        if case .tile(let address, _) = task,
          let number = archive.tileIndex(level: address.level, column: address.column, row: address.row),
          case .here(let stored, _) = archive.waitForTile(number)
        {
          append(stored)
        } else {
          append(try renderer.render(task, of: archive, until: cancellation))
        }
      }
      return bytes
    }
  }
}

/// Several tiles, available when the last one is.
private struct AllTiles: Pending {
  let tiles: [any Pending]

  private final class Countdown: Sendable {
    private let left: Atomic<Int>
    private let body: @Sendable () -> Void

    init(_ count: Int, _ body: @escaping @Sendable () -> Void) {
      left = Atomic(count)
      self.body = body
    }

    func step() { if left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { body() } }
  }

  func whenComplete(_ body: @escaping @Sendable () -> Void) {
    let countdown = Countdown(tiles.count, body)
    for tile in tiles { tile.whenComplete { countdown.step() } }
  }
}
