import Foundation
import Glibc
import TileGeometry
import TileStorage
import ZigguratConcurrency
import ZigguratFiles
import ZigguratImaging
import ZigguratSandbox

/// The parent's side of one picture that a sandboxed process builds. It checks the messages of the process, reads back
/// its archive, and publishes it.
struct BuildJob {
  /// The reason why a job ends without a result.
  enum Stop: Error {
    case process(TerminationReason)
    /// An error of the builder itself; the sandboxed process may still be working.
    case builder(BuildError)
  }

  private let work: PictureJob
  private let process: SandboxedProcess
  private let builder: LibraryBuilder
  private let pool: WorkPool
  private let isAlone: Bool
  /// Whether the sandboxed process was ended, because it could have written to the published file.
  private(set) var hasEndedProcess = false
  private var picture: SandboxedPicture?
  private var reserved = 0
  private var plan: BuildPlan?
  /// Whether the plan's pixels are taken from the allowance without an archive yet.
  private var hasTaken = false
  private var file: ArchiveFile?
  private var writer: (any ArchiveWriter)?
  private var received: ReceivedParts?
  /// Whether the build record was among the parts.
  private var hasRecord = false
  private var deadline: ContinuousClock.Instant

  /// - Parameter isAlone: whether all memory for pictures is reserved for this one.
  init(
    _ work: PictureJob, _ process: SandboxedProcess, _ builder: LibraryBuilder, _ pool: WorkPool,
    isAlone: Bool
  ) {
    self.work = work
    self.process = process
    self.builder = builder
    self.pool = pool
    self.isAlone = isAlone
    deadline = .now + .seconds(builder.imageTimeout)
  }

  /// Sends the order and handles messages until the result arrives.
  ///
  /// - Parameter files: the descriptors that are sent with the order.
  mutating func run(_ order: BuildOrder, _ files: [Int32]) throws(Stop) -> PictureResult {
    try send(BuildMessage.build, BuildMessage.encode(order), files)
    while true {
      if let answer = try take(try receive()) { return answer }
    }
  }

  /// Releases the resources of the picture.
  mutating func end() {
    if let picture {
      picture.end()
      pool.end(picture, memory: reserved)
    }
    writer?.abandon()
    file?.abandon()
    if hasTaken, let plan { builder.allowance?.giveBack(plan) }
  }

  private func send(_ kind: UInt32, _ bytes: [UInt8], _ files: [Int32]) throws(Stop) {
    let timeout = SandboxedProcess.Timeout(
      until: deadline, of: builder.imageTimeout, isCancelled: builder.isCancelled)
    do throws(TerminationReason) { try process.send(kind, bytes, files: files, within: timeout) } catch {
      throw .process(error)
    }
  }

  private func receive() throws(Stop) -> WorkerMessage {
    var isTooLarge = false
    let most = min(plan?.maxBytes ?? 0, builder.allowance?.bytes ?? .max)
    let timeout = SandboxedProcess.Timeout(until: deadline, of: builder.imageTimeout) { [builder, file] in
      isTooLarge = file.map { $0.byteCount > most } ?? false
      return isTooLarge || builder.isCancelled()
    }
    do throws(TerminationReason) {
      return try process.receive(longest: BuildMessage.longest, within: timeout)
    } catch {
      guard isTooLarge else { throw .process(error) }
      throw overfull
    }
  }

  private var overfull: Stop {
    .builder(BuildError(work.source.path, "its archive grew beyond what the picture can fill"))
  }

  /// - Returns: the result of the picture; nil if further messages follow.
  private mutating func take(_ message: WorkerMessage) throws(Stop) -> PictureResult? {
    switch (message.kind, plan) {
    case (BuildMessage.pages, nil) where work.page == nil:
      let pages = try decode(PagesMessage.self, message)
      guard pages.isPossible, pages.count > 1 || builder.isDryRun else { throw .process(.garbled) }
      guard builder.allowance?.admits(pages: pages.count) ?? true else {
        throw .builder(BuildError(work.source.path, "it has more than \(BuildAllowance.maxPages) pages"))
      }
      return .pages(pages)
    case (BuildMessage.plan, nil):
      guard let plan = try decode(PlanMessage.self, message).plan(builder.options) else {
        throw .process(.garbled)
      }
      self.plan = plan
      if let allowance = builder.allowance {
        guard allowance.take(plan) else {
          throw .builder(BuildError(work.source.path, "it has more pixels than are allowed here"))
        }
        hasTaken = true
      }
      try begin(plan)
    case (BuildMessage.tile, .some): try takeTile(message.bytes)
    case (BuildMessage.entry, .some): try takeEntry(message.bytes)
    case (BuildMessage.progress, .some):
      picture?.report(progress: try decode([Double].self, message).first ?? 0)
      if let picture { builder.onProgress?(picture.progress) }
    case (BuildMessage.built, .some(let plan)):
      return .outcome(.built(try finish(plan, try decode(ResultMessage.self, message))))
    case (BuildMessage.failed, _):
      var error = try decode(FailureMessage.self, message).error(about: work.source.path, named)
      // If another file has replaced the source, the sandboxed process could not open it.
      try checkSource()
      error.mayBeOfMachine = PDFPassword.isWrong(error.reason)
      return .outcome(.failed(error))
    default: throw .process(.garbled)
    }
    return nil
  }

  /// Returns the sandboxed process's reason with the path of the archive, which that process does not know.
  private func named(_ reason: String) -> String {
    let unnamed = StorageError("write \(SZIWriter.unnamed)", "").description
    guard let file, reason.hasPrefix(unnamed) else { return reason }
    return StorageError("write \(file.destination)", String(reason.dropFirst(unnamed.count))).description
  }

  private func decode<Value: Decodable>(_ type: Value.Type, _ message: WorkerMessage) throws(Stop) -> Value {
    do throws(TerminationReason) { return try BuildMessage.decode(type, message) } catch {
      throw .process(error)
    }
  }

  /// Waits for the picture's memory and lets the sandboxed process continue.
  private mutating func begin(_ plan: BuildPlan) throws(Stop) {
    do throws(BuildError) { try pool.check(plan, work.source.path) } catch {
      throw .builder(error)
    }
    // The estimate is close, but not exact.
    let likely = min(pool.memoryLimit, plan.memory + plan.memory / 2 + (64 << 20))
    reserved = isAlone ? 0 : likely
    let picture = SandboxedPicture(process, pixels: plan.pyramid.imageSize)
    let waited = ContinuousClock.now
    pool.begin(picture, memory: reserved, work.source.path)
    self.picture = picture
    deadline += .now - waited
    try checked { (store) throws(StorageError) in
      file = try store.makeFile(
        id: work.source.id, replacing: builder.mayReplace(work.source.id, digest: work.digest))
    }
    if file == nil {
      guard let parts = ReceivedParts(of: plan, within: pool.memoryLimit) else { throw .process(.garbled) }
      received = parts
      try checked { (store) throws(StorageError) in
        writer = try store.makeWriter(
          id: work.source.id, pyramid: plan.pyramid, format: plan.format,
          replacing: builder.mayReplace(work.source.id, digest: work.digest))
      }
    }
    process.allow(memory: isAlone ? pool.memoryLimit : max(likely, SandboxedPictureBuilder.opening))
    try send(BuildMessage.go, [], file.map { [$0.descriptor] } ?? [])
  }

  private mutating func takeTile(_ bytes: [UInt8]) throws(Stop) {
    guard let writer, let plan, bytes.count > 12 else { throw .process(.garbled) }
    let index = ByteOrder.little.number(bytes, at: 0, 8)
    let crc = UInt32(ByteOrder.little.number(bytes, at: 8, 4))
    let isSent = bytes.withUnsafeBytes { checksum(UnsafeRawBufferPointer(rebasing: $0[12...])) == crc }
    let side = plan.pyramid.tileSize + 2 * plan.pyramid.overlap
    guard isSent, bytes.count - 12 <= InputLimit.bytes(ofTileSide: side), index < plan.pyramid.tileCount,
      received?.insert(tile: index) == true
    else {
      throw .process(.garbled)
    }
    let most = builder.allowance?.bytes
    guard received?.grow(by: bytes.count, ofAll: most) == true else { throw overfull }
    try checked { (_) throws(StorageError) in
      try bytes.withUnsafeBufferPointer { (bytes) throws(StorageError) in
        try writer.append(
          tile: index, UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[12...]), crc: crc)
      }
    }
  }

  private mutating func takeEntry(_ bytes: [UInt8]) throws(Stop) {
    guard let writer, let end = bytes.firstIndex(of: 0),
      let name = String(validating: bytes[..<end], as: UTF8.self), received?.insert(entry: name) == true,
      bytes.count - end - 1 <= InputLimit.entry(name).bytes
    else { throw .process(.garbled) }
    if name == BuildRecord.entryName {
      guard let record = BuildRecord(json: Data(bytes[(end + 1)...])), isAsked(record) else {
        throw .process(.garbled)
      }
      hasRecord = true
    }
    let most = builder.allowance?.bytes
    guard received?.grow(by: bytes.count, ofAll: most) == true else { throw overfull }
    try checked { (_) throws(StorageError) in try writer.append(name, Array(bytes[(end + 1)...])) }
  }

  /// Publishes the archive, if it matches the plan and the source is unchanged.
  private mutating func finish(_ plan: BuildPlan, _ report: ResultMessage) throws(Stop)
    -> PyramidBuilder.Report
  {
    guard received == nil || (received?.isWhole == true && hasRecord) else { throw .process(.garbled) }
    try checkSource()
    // The file may have grown since the last message. It cannot grow after it is withdrawn.
    func isOverfull() -> Bool {
      file.map { $0.byteCount > min(plan.maxBytes, builder.allowance?.bytes ?? .max) } ?? false
    }
    // The writer must not change the file after it is checked and named.
    if let file, file.withdraw() != .none {
      hasEndedProcess = true
      process.endAndWait()
      guard file.withdraw() != .some else { throw .process(.garbled) }
    }
    guard !isOverfull() else { throw overfull }
    var byteCount = 0
    try checked { (_) throws(StorageError) in
      if let file {
        byteCount = try file.publish { (archive) throws(StorageError) in
          guard archive.pyramid == plan.pyramid, archive.format == plan.format,
            archive.recordDefects.isEmpty, let record = archive.buildRecord, isAsked(record)
          else { throw StorageError("write \(work.source.id)", "what was built is not what was asked for") }
        }
      } else if let writer {
        byteCount = try writer.finish()
      }
    }
    builder.allowance?.spend(bytes: byteCount)
    hasTaken = false
    return PyramidBuilder.Report(
      pyramid: plan.pyramid, byteCount: byteCount, route: report.route.sanitizedLine,
      steps: report.steps.map(\.sanitizedLine),
      leftOut: report.leftOut.prefix(20).map(\.sanitizedLine),
      damage: report.damage.map { SourceDamage($0.kind, $0.reason.sanitizedLine) },
      dropped: report.dropped.prefix(20).map(\.sanitizedLine))
  }

  /// Whether a record is that of the requested build.
  private func isAsked(_ record: BuildRecord) -> Bool {
    record.sourceDigest == work.digest && record.sidecarDigest == work.metadata.digest
      && record.folio == work.source.folio
      && record.options == builder.options.summary(ofSource: record.sourceName)
  }

  private func checkSource() throws(Stop) {
    do throws(BuildError) {
      guard try work.file.isUnchanged() else {
        throw BuildError(work.source.path, "the file changed while it was read", isTemporary: true)
      }
    } catch { throw .builder(error) }
  }

  private func checked(_ body: (any ArchiveStore) throws(StorageError) -> Void) throws(Stop) {
    do throws(StorageError) { try body(builder.store) } catch {
      throw .builder(BuildError(work.source.path, error))
    }
  }
}

/// A picture that a sandboxed process is building.
final class SandboxedPicture: PictureInWork, @unchecked Sendable {
  // Sendable: variables are accessed under `monitor` only.
  private let monitor = ConditionLock()
  private let process: SandboxedProcess
  private var greatest = 0.0
  private var isEnded = false
  let pixelCount: Double

  init(_ process: SandboxedProcess, pixels: PixelSize) {
    self.process = process
    pixelCount = Double(pixels.width) * Double(pixels.height)
  }

  var progress: Double { monitor.withLock { greatest } }

  func report(progress: Double) {
    guard progress.isFinite, (0...1).contains(progress) else { return }
    monitor.withLock { greatest = max(greatest, progress) }
  }

  func end() {
    monitor.withLock {
      isEnded = true
      monitor.wakeAll()
    }
  }

  /// Makes the sandboxed process start a thread in place of the caller, which waits for the picture's end.
  func assist() {
    try? process.send(BuildMessage.assist, within: SandboxedProcess.Timeout(seconds: 1))
    monitor.withLock { while !isEnded { monitor.wait() } }
  }
}
