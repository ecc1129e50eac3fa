/// Makes a PNG file in memory from the readable parts of a damaged one. Lost pixel data are 0. libvips returns no row
/// of data that do not inflate, and no row of a damaged interlaced file.
enum PNGRepair {
  /// Bytes of a chunk that is taken over.
  private static let maxChunkSize = 1 << 26

  /// - Parameter log: receives the lost data.
  /// - Throws: an error if no pixel data are left.
  static func repaired(path: String, _ log: DamageLog) throws(BuildError) -> [UInt8] {
    let file = try PNGFile(path: path)
    let chunks = try PNGChunkReader(path: path)
    var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    while try chunks.next() != PNGChunk.data {
      let name = chunks.name
      guard chunks.remaining <= maxChunkSize else {
        try chunks.finish()
        continue
      }
      let body = try chunks.rest(atMost: maxChunkSize)
      let isSound = try chunks.finish()
      // An index into a palette that is damaged is nearer to its colour than none.
      if isSound || name == PNGChunk.palette { bytes += PNGChunk.bytes(name, body) }
    }
    bytes += PNGChunk.bytes(
      PNGChunk.data, try ThoroughDeflate.deflated(pixelData(file, chunks, log), level: 1))
    bytes += PNGChunk.bytes(PNGChunk.end, [])
    log.add(chunks.log.worst)
    log.add(chunks.log.truncation)
    return bytes
  }

  /// Filtered rows, with zeros from the first damage on.
  private static func pixelData(
    _ file: PNGFile, _ chunks: PNGChunkReader, _ log: DamageLog
  ) throws(BuildError) -> [UInt8] {
    let size = file.inflatedRows.reduce(0) { $0 + $1.bytes * $1.count }
    let inflater = PNGInflater(chunks)
    var data = [UInt8](repeating: 0, count: size)
    let count = data.withUnsafeMutableBufferPointer { inflater.inflate(to: $0.baseAddress!, count: size) }
    var damage = inflater.failure
    if count < size, damage == nil {
      damage = SourceDamage(.error, "the PNG file's pixel data end before its last row")
    }
    let all = file.inflatedRows.reduce(0) { $0 + $1.count }
    var (start, rows) = (0, 0)
    for pass in file.inflatedRows {
      for _ in 0..<pass.count {
        let isWhole = start + pass.bytes <= count
        if isWhole, data[start] <= 4 {
          rows += 1
          start += pass.bytes
          continue
        }
        if isWhole {
          damage = SourceDamage(.error, "a row of the PNG file has filter \(data[start]); there are 0 to 4")
        }
        guard rows > 0 else { throw chunks.refused(damage?.reason ?? "has no pixels") }
        data.replaceSubrange(start..<size, with: repeatElement(0, count: size - start))
        // An interlaced picture has rows of each of its passes (PNG 8.2).
        let missing = "\(all - rows) of \(all) rows" + (all == file.height ? "" : " of its passes")
        if let damage { log.add(damage.kind, "\(damage.reason): \(missing) are missing") }
        return data
      }
    }
    log.add(damage)
    return data
  }
}
