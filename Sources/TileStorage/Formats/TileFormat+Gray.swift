extension TileArchive {
  /// Whether the tiles are gray, by the header of the tile that shows the whole image. False if this is unknown: the
  /// tile is not in memory, or its format does not state it.
  package var isGray: Bool {
    guard !isRemote, let number = tileIndex(level: coarsestLevel, column: 0, row: 0),
      let bytes = tile(number)
    else {
      return false
    }
    return format.isGray(bytes)
  }
}

extension TileFormat {
  /// Whether a tile is gray by its header. False if the format does not state it.
  fileprivate func isGray(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .jpeg: Self.jpegComponents(bytes) == 1
    // The colour type (PNG, section 11.2.1): gray, or gray with alpha.
    case .png: bytes.count > 25 && (bytes[25] == 0 || bytes[25] == 4)
    case .webp, .avif, .jxl: false
    }
  }

  /// Returns the number of components in the frame header (ITU-T T.81, section B.2.2); nil if there is no frame header.
  private static func jpegComponents(_ bytes: UnsafeRawBufferPointer) -> Int? {
    var at = 2
    while at + 9 < bytes.count, bytes[at] == 0xff {
      switch bytes[at + 1] {
      // Tables and restart intervals share the range.
      case 0xc4, 0xc8, 0xcc: break
      case 0xc0...0xcf: return Int(bytes[at + 9])
      // Fill bytes may stand in front of a marker.
      case 0xff:
        at += 1
        continue
      default: break
      }
      at += 2 + (Int(bytes[at + 2]) << 8 | Int(bytes[at + 3]))
    }
    return nil
  }
}
