import TileStorage

/// Messages between a client and a rendering process, in this order: `render`; `want` and `tiles`, as often as the
/// process needs them; `picture` or `failed`.
enum RenderMessage {
  /// To the process: `TileRenderer.Options`, a `RenderRequest` and tiles that the process has not received before.
  static let render: UInt32 = 1
  /// To the process: the first of the requested tiles.
  static let tiles: UInt32 = 2

  /// From the process: numbers of tiles, eight bytes each.
  static let want: UInt32 = 11
  /// From the process: a file's bytes and an `Effort`.
  static let picture: UInt32 = 12
  /// From the process: three flags (out of reach, a defect of the archive, temporary), the reason and an `Effort`.
  static let failed: UInt32 = 13

  /// The maximum bytes of tiles in one message. The first tile may be larger.
  private static let batch = 4 << 20
  /// The maximum number of tiles in one request.
  static let maxWanted = 8192

  /// The resources of a render, as its process reports them.
  struct Effort {
    /// Processor time in nanoseconds.
    let nanoseconds: Int
    /// Bytes of decoded tiles that the process keeps.
    let cachedBytes: Int

    static let size = 16
  }

  // MARK: The question

  /// A request to the process.
  struct Question {
    let options: TileRenderer.Options
    let request: RenderRequest
    /// Tiles that were sent with the request, by tile number.
    let tiles: [Int: GatheredTile]
  }

  private static let headSize = 64

  /// - Parameters:
  ///   - numbers: the numbers of the tiles that are sent with the request.
  ///   - tiles: these tiles, as `tiles(_:of:)` returns them.
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

  /// Parses a request; nil if the bytes are invalid.
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

  /// Returns the tiles that a process requests; nil if the pyramid does not have one of them.
  static func numbers(_ bytes: [UInt8], below tileCount: Int) -> [Int]? {
    guard !bytes.isEmpty, bytes.count % 8 == 0, bytes.count <= 8 * maxWanted else { return nil }
    let numbers = words(bytes[...])
    return numbers.allSatisfy { (0..<tileCount).contains($0) } ? numbers : nil
  }

  /// Returns the first of the tiles, as many as fit, and their number.
  static func tiles(_ numbers: [Int], of archive: TileArchive) -> (bytes: [UInt8], count: Int) {
    var message: [UInt8] = []
    var count = 0
    archive.expect(numbers)
    for number in numbers {
      if !message.isEmpty, message.count >= batch { break }
      count += 1
      func append(_ kind: UInt64, _ version: UInt64, _ size: Int) {
        for word in [kind, version, UInt64(size)] { withUnsafeBytes(of: word) { message += $0 } }
      }
      switch archive.waitForTile(number) {
      case .here(let bytes, let version):
        append(0, version, bytes.count)
        message += bytes
      case .notFound: append(1, 0, 0)
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
      let (kind, version, count) = (head[0], UInt64(bitPattern: Int64(head[1])), head[2])
      at += 24
      switch kind {
      case 0: tiles.append(.stored(Array(bytes[at..<at + count]), version: version))
      case 1: tiles.append(.lacking)
      case 2: tiles.append(.unreadable)
      // Sent by the server, which uses no other value.
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
    let flags = [error.isOutOfReach, error.isDamage, error.isTemporary]
    return answer(effort, flags.map { $0 ? 1 : 0 } + error.description.utf8)
  }

  /// Parses an answer; nil if the bytes are invalid.
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

  /// Parses the error in the rest of an answer; nil if it is invalid.
  static func error(_ rest: [UInt8]) -> RenderError? {
    guard rest.count >= 3 else { return nil }
    let reason = String(decoding: rest.dropFirst(3), as: UTF8.self).sanitizedLine
    return RenderError(
      reason, isOutOfReach: rest[0] == 1, isDamage: rest[1] == 1, isTemporary: rest[2] == 1)
  }
}
