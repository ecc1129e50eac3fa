extension MappedZIP {
  /// Entries besides the tiles that are read whole.
  private static let readWhole = 1 << 20
  /// Tiles whose headers are looked at, so that a vast archive costs no more than a small one.
  private static let looks = 64

  /// What is wrong with an archive of our own, as far as it is seen without reading its tiles; nil where
  /// nothing is.
  ///
  /// Every tile must be named and lie inside the file, small entries must have the checksums that the directory
  /// states, and so many tiles spread over the file, its first and last among them, must begin where the
  /// directory has them. What is wrong inside tiles `ArchiveVerifier` finds.
  var visibleFault: String? {
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

  /// The tile's address in words, for an error.
  func name(ofTile number: Int) -> String {
    guard let address = pyramid.address(at: number) else { return "a tile" }
    return "tile \(address.level)/\(address.column)_\(address.row).\(descriptor.fileExtension)"
  }
}
