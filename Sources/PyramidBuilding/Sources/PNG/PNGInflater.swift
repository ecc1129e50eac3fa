import TileStorage

/// The pixel data of a PNG file as they inflate, chunk by chunk, up to their end or to the first damage.
final class PNGInflater {
  /// Why nothing more comes; nil while the data are sound, and at their end.
  private(set) var failure: SourceDamage?
  private let chunks: PNGChunkReader
  private let stream = ZlibInflater()

  /// - Parameter chunks: a file's, at its first chunk of pixel data.
  init(_ chunks: PNGChunkReader) { self.chunks = chunks }

  /// - Returns: how many bytes there were; fewer than `count` at the end of the data, or where they are damaged.
  func inflate(to out: UnsafeMutablePointer<UInt8>, count: Int) -> Int {
    var done = 0
    while done < count, failure == nil, !stream.isFinished {
      do throws(BuildError) {
        if stream.needsInput { try giveInput() }
      } catch {
        failure =
          chunks.hasEnded
          ? SourceDamage(.truncated, "the PNG file is cut off") : SourceDamage(.error, error.reason)
        break
      }
      // ISA-L counts in 32 bits.
      let (step, inflated) = stream.step(to: out + done, count: min(count - done, 1 << 30))
      done += inflated
      switch step {
      case .sound: break
      case .mismatched:
        failure = SourceDamage(.error, "the checksum of the PNG file's pixel data does not match")
      case .damaged: failure = SourceDamage(.error, "the PNG file's pixel data are damaged")
      case .starved: failure = SourceDamage(.error, "the PNG file's pixel data end early")
      }
    }
    return done
  }

  /// Gives the next bytes of the IDAT chunks to the stream; none when the last has been read.
  private func giveInput() throws(BuildError) {
    while chunks.name == PNGChunk.data {
      let bytes = try chunks.part()
      if bytes.count > 0 { return stream.give(bytes) }
      try chunks.next()
    }
  }
}
