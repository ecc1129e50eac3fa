/// The maximum size in bytes of each kind of untrusted file, entry and message. A larger one is refused before any of
/// it is read or memory is allocated for it.
///
/// `SECURITY.md` contains the same table; a test compares them.
package enum InputLimit: String, CaseIterable, Sendable {
  case descriptor = "`NAME.dzi`"
  case scanProperties = "`scan-properties.xml`"
  case buildRecord = "`build.json`"
  case metadata = "`metadata.json`, `own-metadata.json`"
  case book = "`book.json`"
  case sidecar = "`NAME.xmp`"
  case animation = "`animation.gif`, `animation.webp`"
  case otherEntry = "other entries, such as `associated_images/thumbnail.jpg`"
  case tile = "tile"
  case tileIndex = "tile index in memory"
  case planLine = "line of a plan, journal or digest cache"
  case message = "message of a sandboxed process"
  case request = "JSON of a request"

  /// The maximum size in bytes. For a kind whose limit depends on other values, the largest possible limit, if any.
  package var bytes: Int {
    switch self {
    case .descriptor, .scanProperties: 64 << 10
    case .buildRecord: 256 << 10
    case .metadata, .planLine, .message, .request: 1 << 20
    case .book: 2 << 20
    case .sidecar: 4 << 20
    case .animation: 32 << 20
    case .otherEntry: 64 << 20
    case .tile: 256 << 20
    case .tileIndex: .max
    }
  }

  /// The other values on which the limit depends.
  private var rule: String? {
    switch self {
    case .tile: "4 MB and 8 bytes for each of its pixels, at most"
    case .tileIndex: "4 bytes for each byte of the ZIP directory, or 64 KB"
    default: nil
    }
  }

  /// The row of the table in `SECURITY.md`.
  package var row: String {
    let most = bytes == .max ? nil : bytes >> 20 > 0 ? "\(bytes >> 20) MB" : "\(bytes >> 10) KB"
    return "| \(rawValue) | \([rule, most].compactMap(\.self).joined(separator: " ")) |"
  }

  /// The limits of a kind that is JSON.
  package var json: JSONLimits { JSONLimits(bytes: bytes, depth: 16, values: 20_000) }

  /// Returns the limit of an entry that is not a tile, by its name relative to the archive's root folder.
  package static func entry(_ relativeName: String) -> InputLimit {
    switch relativeName {
    case "vendor/ziggurat/build.json": .buildRecord
    case "vendor/ziggurat/metadata.json", "vendor/ziggurat/own-metadata.json": .metadata
    case "vendor/ziggurat/animation.gif", "vendor/ziggurat/animation.webp": .animation
    case "scan-properties.xml": .scanProperties
    default: relativeName.hasSuffix(".dzi") ? .descriptor : .otherEntry
    }
  }

  /// Returns the maximum size of a tile in bytes: its pixels as 16-bit RGBA, and room for a colour profile.
  /// - Parameter side: the tile's side in pixels, overlap included.
  package static func bytes(ofTileSide side: Int) -> Int {
    side > 1 << 13 ? tile.bytes : min(tile.bytes, (4 << 20) + 8 * side * side)
  }

  /// Returns the maximum memory for the index of an archive in bytes.
  /// - Parameter directory: the size of its ZIP directory in bytes.
  package static func bytes(ofIndex directory: Int) -> Int { max(64 << 10, 4 * directory) }
}
