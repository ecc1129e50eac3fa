import Glibc
import Synchronization
package import TileStorage
import ZigguratSandbox

/// A pool of sandboxed processes that render pictures from the tiles of archives; may be used by many threads at once.
///
/// All tiles are treated as untrusted, because an archive's statement about its author may be false. A process sees the
/// tiles of one archive alone, and no key. Its decoder cannot affect pictures of other archives. It is kept a short
/// while for the archive's next picture. In a program without sandboxed processes, which only uses the library, the
/// calling process renders.
package final class RenderWorkers: Sendable {
  private struct IdleWorker {
    let process: SandboxedProcess
    weak var archive: TileArchive?
    var answers = 0
    var since = ContinuousClock.now
    var cachedBytes = 0
    /// Bytes of memory that the process may have.
    var allowed = 0
    /// The versions of the tiles that the process received, by tile number. The process probably still has them
    /// decoded, and requests the others again.
    var given: [Int: UInt64] = [:]
  }

  private let options: TileRenderer.Options
  /// The timeout of one picture in seconds.
  private let timeout: Int
  private let maxKept: Int
  private let kept = Mutex<[IdleWorker]>([])
  private let nanoseconds = Atomic(0)
  /// The renderer for programs without sandboxed processes.
  private let own: TileRenderer

  /// The number of pictures after which a process is replaced.
  private static let maxUses = 10_000
  /// The maximum number of received tiles that are recorded for each process.
  private static let maxGiven = 1 << 14
  /// The maximum number of processes that are started for one picture, if the system alone is the cause of failures.
  private static let attempts = 4
  /// The nice value of a server's render threads. Tiles take precedence; pictures are delayed while tiles use all
  /// processors.
  private static let niceness = 10

  /// - Parameters:
  ///   - options: `cacheBytes` is the total of all processes.
  ///   - threads: the number of pictures that are rendered concurrently.
  ///   - timeout: the timeout of one picture in seconds.
  package init(options: TileRenderer.Options = TileRenderer.Options(), threads: Int, timeout: Int) {
    own = TileRenderer(options: options)
    var options = options
    options.cacheBytes /= max(1, threads)
    self.options = options
    self.timeout = timeout
    maxKept = max(1, threads)
  }

  /// Bytes of decoded tiles in the caches now.
  package var cachedBytes: Int { own.cachedBytes + kept.withLock { $0.reduce(0) { $0 + $1.cachedBytes } } }

  /// Whether pictures are rendered in other processes than this one.
  package var isElsewhere: Bool { ProcessLauncher.running != nil }

  /// Processor time of the sandboxed processes as they reported it, in seconds.
  package var seconds: Double { Double(nanoseconds.load(ordering: .relaxed)) / 1e9 }

  /// Drops all decoded tiles.
  package func forget() {
    own.forget()
    let processes = kept.withLock { kept in
      defer { kept = [] }
      return kept.map(\.process)
    }
    for process in processes { process.end() }
  }

  /// Returns the file that the task describes.
  ///
  /// - Parameter cancellation: a request that makes the render fail soon.
  package func render(
    _ task: RenderTask, of archive: TileArchive, until cancellation: Cancellation = Cancellation()
  ) throws(RenderError) -> [UInt8] {
    guard let server = ProcessLauncher.running else {
      return try own.render(task, of: archive, until: cancellation)
    }
    let need = RenderLimits(task, of: archive)
    let request = RenderRequest(task, of: archive)
    var attempt = 1
    while true {
      let known = take(archive)
      let answer: Result<[UInt8], RenderError>
      do throws(TerminationReason) {
        var use: IdleWorker
        if let known { use = known } else { use = try begin(server, archive) }
        // A process that is not kept ends after its last reference.
        answer = try ask(&use, request, need, archive, cancellation)
        keep(use)
      } catch {
        attempt += 1
        // The process may have exited while it was idle, because of an earlier task, or without a cause of its own.
        if known != nil, error.mayBeOfEarlier { continue }
        if error.mayBeOfOthers, attempt <= Self.attempts, !cancellation.isAsked { continue }
        server.count(error)
        if case .cancelled = error { throw .cancelled }
        throw RenderError(
          error.description, isDamage: !error.mayBeOfOthers, isTemporary: error.mayBeOfOthers)
      }
      return try answer.get()
    }
  }

  private func begin(_ server: ProcessLauncher, _ archive: TileArchive) throws(TerminationReason)
    -> IdleWorker
  {
    let limits = SandboxLimits(
      memory: RenderLimits.base, maxMemory: RenderLimits.maximum, processorSeconds: timeout * Self.maxUses,
      niceness: Self.niceness)
    return IdleWorker(process: try server.begin(RenderWorker.kind, limits), archive: archive)
  }

  private func ask(
    _ use: inout IdleWorker, _ request: RenderRequest, _ need: RenderLimits, _ archive: TileArchive,
    _ cancellation: Cancellation
  ) throws(TerminationReason) -> Result<[UInt8], RenderError> {
    let memory = RenderLimits.base + options.cacheBytes + need.memory
    if memory > use.allowed {
      use.process.allow(memory: memory)
      use.allowed = memory
    }
    // After a private space is locked, none of its tiles is decoded.
    let limit = SandboxedProcess.Timeout(seconds: timeout) { cancellation.isAsked || archive.isLocked }
    let given = use.given
    let early = request.hints.filter { given[$0.number] != $0.version ?? 0 }.map(\.number)
    let (numbers, tiles) = give(early, to: &use, of: archive)
    try use.process.send(
      RenderMessage.render, RenderMessage.question(options, request, numbers, tiles), within: limit)
    while true {
      let message = try use.process.receive(longest: need.maxAnswerSize, within: limit)
      guard message.kind != RenderMessage.want else {
        guard let numbers = RenderMessage.numbers(message.bytes, below: archive.pyramid.tileCount) else {
          throw .garbled
        }
        let tiles = give(numbers, to: &use, of: archive).tiles
        try use.process.send(RenderMessage.tiles, tiles, within: limit)
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

  /// Returns the first of the tiles in the format of a message.
  private func give(
    _ numbers: [Int], to use: inout IdleWorker, of archive: TileArchive
  ) -> (numbers: [Int], tiles: [UInt8]) {
    let (tiles, count) = RenderMessage.tiles(numbers, of: archive)
    let given = Array(numbers.prefix(count))
    if use.given.count > Self.maxGiven { use.given = [:] }
    for number in given { use.given[number] = archive.version(ofTile: number) ?? 0 }
    return (given, tiles)
  }

  private func take(_ archive: TileArchive) -> IdleWorker? {
    kept.withLock { kept in
      Self.drop(&kept)
      return kept.lastIndex { $0.archive === archive }.map { kept.remove(at: $0) }
    }
  }

  /// Drops processes that are about to exit when idle, and those of released archives.
  private static func drop(_ kept: inout [IdleWorker]) {
    let now = ContinuousClock.now
    kept.removeAll { now - $0.since > .milliseconds(900 * RenderWorker.idleSeconds) || $0.archive == nil }
  }

  /// Drops processes that are no longer needed.
  ///
  /// - Returns: whether any process remains that may have to be dropped later.
  package func sweep() -> Bool {
    kept.withLock { kept in
      Self.drop(&kept)
      return !kept.isEmpty
    }
  }

  private func keep(_ use: IdleWorker) {
    guard use.answers < Self.maxUses, use.archive?.isLocked == false else { return use.process.end() }
    let spare = kept.withLock { kept in
      var use = use
      use.since = .now
      kept.append(use)
      return kept.count > maxKept ? kept.removeFirst() : nil
    }
    spare?.process.end()
  }
}

/// The limits of the process for one render.
private struct RenderLimits {
  /// Bytes of memory besides the cached tiles and the picture.
  static let base = 96 << 20
  /// The maximum bytes of memory for any picture.
  static let maximum = 8 << 30

  /// Bytes of memory for the picture.
  let memory: Int
  /// The maximum size of the picture's file in bytes.
  private let longest: Int

  init(_ task: RenderTask, of archive: TileArchive) {
    let (decoded, encoded) = task.pixelCounts(in: archive)
    // For decoding: planes, rows and the current tile.
    let each = task.format.bytesPerPixel
    let most = Self.maximum - Self.base
    let ofDecoded = archive.format.bytesPerDecodedPixel
    memory = min(most, ofDecoded * min(decoded, most / ofDecoded) + each * min(encoded, most / each))
    // No format takes much more than a picture's pixels.
    longest = min(Int(UInt32.max), (1 << 20) + 17 * min(encoded, most / 17) / 4)
  }

  /// Returns the maximum size in bytes of a message of a kind.
  func maxAnswerSize(_ kind: UInt32) -> Int { kind == RenderMessage.picture ? longest : 1 << 16 }
}

extension TerminationReason {
  /// Whether the process need not have caused its own end.
  fileprivate var mayBeOfOthers: Bool {
    switch self {
    case .unavailable, .signal(SIGKILL): true
    case .signal, .exit, .memory, .time, .cancelled, .garbled: false
    }
  }
}
