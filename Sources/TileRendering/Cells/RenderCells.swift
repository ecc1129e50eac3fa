import Glibc
import Synchronization
package import TileStorage
import ZigguratCells

/// Makes pictures from the tiles of archives, in cells; may be used by many threads at once.
///
/// Tiles may be a stranger's, whatever the archive says of who wrote it. A cell sees the tiles of one archive alone, so
/// that what they do to their decoder shows in no other archive's pictures, and no key; it is kept a short while for
/// the archive's next picture. In a process without cells, which only libraries are used in, the process itself
/// renders.
package final class RenderCells: Sendable {
  private struct Kept {
    let cell: Cell
    weak var archive: TileArchive?
    var answers = 0
    var since = ContinuousClock.now
    var cachedBytes = 0
    /// Bytes of memory that the cell may have.
    var allowed = 0
    /// What the cell was given, by the tiles' numbers. It is likely to have kept it, decoded, and asks where it has not.
    var given: [Int: UInt64] = [:]
  }

  private let options: TileRenderer.Options
  /// Seconds that one picture may take.
  private let timeout: Int
  private let mostKept: Int
  private let kept = Mutex<[Kept]>([])
  private let nanoseconds = Atomic(0)
  /// Renders where there are no cells.
  private let own: TileRenderer

  /// Answers after which a cell is replaced.
  private static let longestUse = 10_000
  /// Tiles of a cell that are remembered as given.
  private static let mostGiven = 1 << 14
  /// Cells that are begun for one picture at most: where nobody but the system is to blame.
  private static let attempts = 4
  /// As for threads that render in a server: tiles go first, and pictures come, if late, while they take all.
  private static let niceness = 10

  /// - Parameters:
  ///   - options: `cacheBytes` are all cells' together.
  ///   - threads: how many pictures are made at a time.
  ///   - timeout: seconds that one picture may take.
  package init(options: TileRenderer.Options = TileRenderer.Options(), threads: Int, timeout: Int) {
    own = TileRenderer(options: options)
    var options = options
    options.cacheBytes /= max(1, threads)
    self.options = options
    self.timeout = timeout
    mostKept = max(1, threads)
  }

  /// Bytes of decoded tiles that are kept now.
  package var cachedBytes: Int { own.cachedBytes + kept.withLock { $0.reduce(0) { $0 + $1.cachedBytes } } }

  /// Whether pictures are made in other processes than this one.
  package var isElsewhere: Bool { CellServer.running != nil }

  /// Processor time that cells told they have used, seconds.
  package var seconds: Double { Double(nanoseconds.load(ordering: .relaxed)) / 1e9 }

  /// Lets go of all decoded tiles that are kept.
  package func forget() {
    own.forget()
    let cells = kept.withLock { kept in
      defer { kept = [] }
      return kept.map(\.cell)
    }
    for cell in cells { cell.end() }
  }

  /// The file that the task is about.
  ///
  /// - Parameter cancellation: once it is asked for, the render fails soon.
  package func render(
    _ task: RenderTask, of archive: TileArchive, until cancellation: Cancellation = Cancellation()
  ) throws(RenderError) -> [UInt8] {
    guard let server = CellServer.running else {
      return try own.render(task, of: archive, until: cancellation)
    }
    let need = RenderNeed(task, of: archive)
    let request = RenderRequest(task, of: archive)
    var attempt = 1
    while true {
      let known = take(archive)
      let answer: Result<[UInt8], RenderError>
      do throws(CellEnd) {
        var use: Kept
        if let known { use = known } else { use = try begin(server, archive) }
        // One that is not kept ends when nobody refers to it.
        answer = try ask(&use, request, need, archive, cancellation)
        keep(use)
      } catch {
        attempt += 1
        // It may have ended while it was waiting, or by what it was asked before, or by nothing that it did.
        if known != nil, error.mayBeOfEarlier { continue }
        if error.mayBeOfOthers, attempt <= Self.attempts, !cancellation.isAsked { continue }
        server.count(error)
        if case .cancelled = error { throw .cancelled }
        throw RenderError(
          error.description, isFault: !error.mayBeOfOthers, isTemporary: error.mayBeOfOthers)
      }
      return try answer.get()
    }
  }

  private func begin(_ server: CellServer, _ archive: TileArchive) throws(CellEnd) -> Kept {
    let limits = CellLimits(
      memory: RenderNeed.base, mostMemory: RenderNeed.most, processorSeconds: timeout * Self.longestUse,
      niceness: Self.niceness)
    return Kept(cell: try server.begin(RenderCell.kind, limits), archive: archive)
  }

  private func ask(
    _ use: inout Kept, _ request: RenderRequest, _ need: RenderNeed, _ archive: TileArchive,
    _ cancellation: Cancellation
  ) throws(CellEnd) -> Result<[UInt8], RenderError> {
    let memory = RenderNeed.base + options.cacheBytes + need.memory
    if memory > use.allowed {
      use.cell.allow(memory: memory)
      use.allowed = memory
    }
    // Of what is locked nothing more is decoded.
    let patience = Cell.Patience(seconds: timeout) { cancellation.isAsked || archive.isLocked }
    let given = use.given
    let early = request.hints.filter { given[$0.number] != $0.stamp ?? 0 }.map(\.number)
    let (numbers, tiles) = give(early, to: &use, of: archive)
    try use.cell.send(
      RenderMessage.render, RenderMessage.question(options, request, numbers, tiles), within: patience)
    while true {
      let message = try use.cell.receive(longest: need.longestAnswer, within: patience)
      guard message.kind != RenderMessage.want else {
        guard let numbers = RenderMessage.numbers(message.bytes, below: archive.pyramid.tileCount) else {
          throw .garbled
        }
        let tiles = give(numbers, to: &use, of: archive).tiles
        try use.cell.send(RenderMessage.tiles, tiles, within: patience)
        continue
      }
      guard let (effort, rest) = RenderMessage.parse(answer: message.bytes) else { throw .garbled }
      use.answers += 1
      use.cachedBytes = min(max(0, effort.cachedBytes), options.cacheBytes)
      nanoseconds.wrappingAdd(min(max(0, effort.nanoseconds), timeout * 1_000_000_000), ordering: .relaxed)
      switch message.kind {
      case RenderMessage.picture: return .success(rest)
      case RenderMessage.failed:
        guard let error = RenderMessage.error(rest) else { throw .garbled }
        return .failure(error)
      default: throw .garbled
      }
    }
  }

  /// The first of the tiles, as a message has them.
  private func give(
    _ numbers: [Int], to use: inout Kept, of archive: TileArchive
  ) -> (numbers: [Int], tiles: [UInt8]) {
    let (tiles, count) = RenderMessage.tiles(numbers, of: archive)
    let given = Array(numbers.prefix(count))
    if use.given.count > Self.mostGiven { use.given = [:] }
    for number in given { use.given[number] = archive.stamp(ofTile: number) ?? 0 }
    return (given, tiles)
  }

  private func take(_ archive: TileArchive) -> Kept? {
    kept.withLock { kept in
      Self.drop(&kept)
      return kept.lastIndex { $0.archive === archive }.map { kept.remove(at: $0) }
    }
  }

  /// Cells that are about to end by themselves, or whose archive nobody has any more.
  private static func drop(_ kept: inout [Kept]) {
    let now = ContinuousClock.now
    kept.removeAll { now - $0.since > .milliseconds(900 * RenderCell.patience) || $0.archive == nil }
  }

  /// Lets go of what nobody asks for any more.
  ///
  /// - Returns: whether something is kept that may have to be let go of later.
  package func sweep() -> Bool {
    kept.withLock { kept in
      Self.drop(&kept)
      return !kept.isEmpty
    }
  }

  private func keep(_ use: Kept) {
    guard use.answers < Self.longestUse, use.archive?.isLocked == false else { return use.cell.end() }
    let spare = kept.withLock { kept in
      var use = use
      use.since = .now
      kept.append(use)
      return kept.count > mostKept ? kept.removeFirst() : nil
    }
    spare?.cell.end()
  }
}

/// What a render's cell may take.
private struct RenderNeed {
  /// Bytes beside the kept tiles and what the picture takes.
  static let base = 96 << 20
  /// Bytes for any picture.
  static let most = 8 << 30

  /// Bytes for the picture.
  let memory: Int
  /// Bytes of a picture.
  private let longest: Int

  init(_ task: RenderTask, of archive: TileArchive) {
    let (decoded, encoded) = task.pixelCounts(in: archive)
    // Decoded: planes, rows and the tile in work.
    let each = task.format.bytesPerPixel
    let most = Self.most - Self.base
    let ofDecoded = archive.format.bytesPerDecodedPixel
    memory = min(most, ofDecoded * min(decoded, most / ofDecoded) + each * min(encoded, most / each))
    // No format takes much more than a picture's pixels.
    longest = min(Int(UInt32.max), (1 << 20) + 17 * min(encoded, most / 17) / 4)
  }

  /// Bytes that a message of a kind may have.
  func longestAnswer(_ kind: UInt32) -> Int { kind == RenderMessage.picture ? longest : 1 << 16 }
}

extension CellEnd {
  /// Nothing that the cell did has to have brought it about.
  fileprivate var mayBeOfOthers: Bool {
    switch self {
    case .unavailable, .signal(SIGKILL): true
    case .signal, .exit, .memory, .time, .cancelled, .garbled: false
    }
  }
}
