import Synchronization
import ZigguratFiles

/// The length and the name of a PNG file's chunk (PNG, third edition, 5.3).
struct PNGChunkHead {
  let length: Int
  /// As `PNGChunk` has it.
  let name: UInt32

  /// `nil` if the file does not have it.
  init?(_ reader: PlacedReader, at place: Int) {
    guard let number = reader.number(at: place) else { return nil }
    length = Int(number >> 32)
    name = UInt32(truncatingIfNeeded: number)
  }
}

/// The chunks behind the pixel data of a PNG file: EXIF may stand there (PNG, third edition, 5.6), and the last one does.
///
/// Whoever looks for them passes all chunks of pixel data, thousands of a large file, so they are remembered.
struct PNGTail: Sendable {
  /// The content of the first EXIF behind the pixels; nil if there is none.
  private(set) var exif: Range<Int>?
  /// The place behind the last chunk; nil if the file does not have that chunk.
  private(set) var end: Int?

  private init(_ file: SourceFile) {
    let reader = PlacedReader(descriptor: file.handle.descriptor, size: file.identity.size)
    var (place, isBehindPixels) = (8, false)
    while end == nil, let head = PNGChunkHead(reader, at: place) {
      switch head.name {
      case PNGChunk.data: isBehindPixels = true
      case PNGChunk.exif where isBehindPixels && exif == nil:
        exif = place + 8..<place + 8 + head.length
      case PNGChunk.end: end = place + 12 + head.length
      default: break
      }
      place += 12 + head.length
    }
    withExtendedLifetime(file.handle) {}
  }

  private static let last = Mutex<(identity: FileIdentity, tail: PNGTail)?>(nil)

  /// Returns the tail of a file, which is remembered of the last one until it is written to.
  static func remembered(_ file: SourceFile) -> PNGTail {
    if let known = last.withLock({ $0 }), known.identity == file.identity { return known.tail }
    let tail = PNGTail(file)
    last.withLock { $0 = (file.identity, tail) }
    return tail
  }
}
