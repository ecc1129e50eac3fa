extension MappedZIP {
  /// The maximum size in bytes of entries besides the tiles that are read completely.
  private static let readWhole = 1 << 20
  /// The number of tiles whose headers are checked, so that a vast archive costs no more than a small one.
  private static let looks = 64

  /// The defect of an archive of this program that is visible without reading its tiles; nil if none is visible.
  ///
  /// Every tile must be in the directory and lie inside the file. Small entries must have the directory's checksums. A
  /// sample of tiles spread over the file, its first and last among them, must begin where the directory states.
  /// `ArchiveVerifier` finds defects inside tiles.
  var visibleDefect: String? {
    if let oversized = oversized.first { return oversized }
    for name in entryNames {
      guard let bytes = entry(name), bytes.count > Self.readWhole || isIntact(name) else {
        return "\(name) is damaged"
      }
    }
    guard let directory = try? ZIPDirectory(file.bytes), directory.endsFile(file.bytes) else {
      return "its ZIP directory does not end the file"
    }
    let places = places
    guard !places.isEmpty else { return nil }
    var (first, last) = (0, 0)
    for number in places.indices {
      let place = places[number]
      // No tile is empty, and the shortest header has no name.
      guard place.headerOffset != .max, place.size > 0,
        place.headerOffset <= file.bytes.count - ZIPRecord.localHeaderSize - Int(place.size)
      else { return "\(name(ofTile: number)) is not in the file" }
      if place.headerOffset < places[first].headerOffset { first = number }
      if place.headerOffset > places[last].headerOffset { last = number }
    }
    let step = max(1, places.count / Self.looks)
    for number in [first, last] + Array(stride(from: 0, to: places.count, by: step)) {
      let place = places[number]
      guard
        ZIPLocalEntry.states(
          size: Int(place.size), crc: place.crc, in: file.bytes, headerOffset: place.headerOffset)
      else { return "\(name(ofTile: number)) is not where the directory has it" }
    }
    return nil
  }

  /// Returns the tile's address in text, for an error.
  func name(ofTile number: Int) -> String {
    guard let address = pyramid.address(at: number) else { return "a tile" }
    return "tile \(address.level)/\(address.column)_\(address.row).\(descriptor.fileExtension)"
  }
}
