import TileStorage

/// What who wants a picture and the cell that makes it say to each other, in this order: `render`; `want` and `tiles`,
/// as often as the cell likes; `picture` or `failed`.
enum RenderMessage {
  /// To the cell: `TileRenderer.Options`, a `RenderRequest` and tiles that the cell has not been given before.
  static let render: UInt32 = 1
  /// The first of the tiles that it wants.
  static let tiles: UInt32 = 2

  /// From the cell: numbers of tiles, eight bytes each.
  static let want: UInt32 = 11
  /// A file's bytes and an `Effort`.
  static let picture: UInt32 = 12
  /// Three flags (out of reach, a fault of the archive's, temporary), the reason and an `Effort`.
  static let failed: UInt32 = 13

  /// Bytes of tiles that are handed over at once, but for the first, which may be larger.
  private static let batch = 4 << 20
  /// Tiles that are wanted at once.
  static let mostWanted = 8192

  /// What a render took, as its cell tells it.
  struct Effort {
    /// Of processor time.
    let nanoseconds: Int
    /// Of decoded tiles that the cell keeps.
    let cachedBytes: Int

    static let size = 16
  }

  // MARK: The question

  /// What a cell is asked.
  struct Question {
    let options: TileRenderer.Options
    let request: RenderRequest
    /// Tiles that came along, by their numbers.
    let tiles: [Int: GatheredTile]
  }

  private static let headSize = 64

  /// - Parameters:
  ///   - numbers: of the tiles that come along.
  ///   - tiles: those tiles, as `tiles(_:of:)` gives them.
  static func question(
    _ options: TileRenderer.Options, _ request: RenderRequest, _ numbers: [Int], _ tiles: [UInt8]
  ) -> [UInt8] {
    let body = request.bytes
    let words =
      [options.quality, options.cacheBytes, options.isKept ? 1 : 0] + options.background
      + [body.count, numbers.count]
    var bytes: [UInt8] = []
    bytes.reserveCapacity(headSize + body.count + 8 * numbers.count + tiles.count)
    words.withUnsafeBytes { bytes += $0 }
    bytes += body
    numbers.withUnsafeBytes { bytes += $0 }
    bytes += tiles
    return bytes
  }

  /// Nil where the bytes are no question.
  static func parse(question bytes: [UInt8]) -> Question? {
    guard bytes.count > headSize else { return nil }
    let head = words(bytes[..<headSize])
    let (bodyEnd, numbersEnd) = (headSize + head[6], headSize + head[6] + 8 * head[7])
    guard numbersEnd <= bytes.count, let request = RenderRequest(Array(bytes[headSize..<bodyEnd])) else {
      return nil
    }
    var options = TileRenderer.Options()
    options.quality = head[0]
    options.cacheBytes = head[1]
    options.isKept = head[2] == 1
    options.background = Array(head[3..<6])
    let tiles = zip(words(bytes[bodyEnd..<numbersEnd]), parse(tiles: bytes[numbersEnd...]))
    return Question(
      options: options, request: request, tiles: Dictionary(tiles, uniquingKeysWith: { first, _ in first }))
  }

  private static func words(_ bytes: ArraySlice<UInt8>) -> [Int] {
    bytes.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: 8).map { bytes.loadUnaligned(fromByteOffset: $0, as: Int.self) }
    }
  }

  // MARK: Tiles

  /// The tiles that a cell wants; nil where it names one that the pyramid does not have.
  static func numbers(_ bytes: [UInt8], below tileCount: Int) -> [Int]? {
    guard !bytes.isEmpty, bytes.count % 8 == 0, bytes.count <= 8 * mostWanted else { return nil }
    let numbers = words(bytes[...])
    return numbers.allSatisfy { (0..<tileCount).contains($0) } ? numbers : nil
  }

  /// The first of the tiles, as many as fit, and how many these are.
  static func tiles(_ numbers: [Int], of archive: TileArchive) -> (bytes: [UInt8], count: Int) {
    var message: [UInt8] = []
    var count = 0
    archive.expect(numbers)
    for number in numbers {
      if !message.isEmpty, message.count >= batch { break }
      count += 1
      func append(_ kind: UInt64, _ stamp: UInt64, _ size: Int) {
        for word in [kind, stamp, UInt64(size)] { withUnsafeBytes(of: word) { message += $0 } }
      }
      switch archive.awaited(number) {
      case .here(let bytes, let stamp):
        append(0, stamp, bytes.count)
        message += bytes
      case .notThere: append(1, 0, 0)
      case .unreadable: append(2, 0, 0)
      case .pending, .unreachable: append(3, 0, 0)
      }
    }
    return (message, count)
  }

  static func parse(tiles bytes: ArraySlice<UInt8>) -> [GatheredTile] {
    var tiles: [GatheredTile] = []
    var at = bytes.startIndex
    while at + 24 <= bytes.endIndex {
      let head = words(bytes[at..<at + 24])
      let (kind, stamp, count) = (head[0], UInt64(bitPattern: Int64(head[1])), head[2])
      at += 24
      switch kind {
      case 0: tiles.append(.stored(Array(bytes[at..<at + count]), stamp: stamp))
      case 1: tiles.append(.lacking)
      case 2: tiles.append(.unreadable)
      // Said by the server, which says nothing else.
      default: tiles.append(.unreachable)
      }
      at += count
    }
    return tiles
  }

  // MARK: The answer

  static func answer(_ effort: Effort, _ picture: [UInt8]) -> [UInt8] {
    [effort.nanoseconds, effort.cachedBytes].withUnsafeBytes { picture + $0 }
  }

  static func answer(_ effort: Effort, _ error: RenderError) -> [UInt8] {
    let flags = [error.isOutOfReach, error.isFault, error.isTemporary]
    return answer(effort, flags.map { $0 ? 1 : 0 } + error.description.utf8)
  }

  /// Nil where the bytes are no answer.
  static func parse(answer bytes: consuming [UInt8]) -> (effort: Effort, rest: [UInt8])? {
    let count = bytes.count - Effort.size
    guard count > 0 else { return nil }
    let (nanoseconds, cached) = bytes.withUnsafeBytes { bytes in
      (
        bytes.loadUnaligned(fromByteOffset: count, as: Int.self),
        bytes.loadUnaligned(fromByteOffset: count + 8, as: Int.self)
      )
    }
    bytes.removeLast(Effort.size)
    return (Effort(nanoseconds: nanoseconds, cachedBytes: cached), bytes)
  }

  /// Nil where the rest of an answer is no error.
  static func error(_ rest: [UInt8]) -> RenderError? {
    guard rest.count >= 3 else { return nil }
    let reason = String(decoding: rest.dropFirst(3), as: UTF8.self).line
    return RenderError(
      reason, isOutOfReach: rest[0] == 1, isFault: rest[1] == 1, isTemporary: rest[2] == 1)
  }
}
