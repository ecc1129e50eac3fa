import Foundation
import Glibc
import TileGeometry
import TileStorage
import ZigguratImaging
import ZigguratMetadata
import ZigguratSandbox

/// Builds pictures in sandboxed processes. Small pictures share a process until one of them ends it.
final class SandboxedPictureBuilder: PictureBuilder {
  private let server: ProcessLauncher
  private let builder: LibraryBuilder
  let pool: WorkPool
  private var process: SandboxedProcess?
  /// The number of pictures that the sandboxed process was ordered to build.
  private var asked = 0
  /// Paths that the sandboxed process may read.
  private var readable: Set<String> = []

  /// The memory limit in bytes of a sandboxed process that opens a picture, before its need is known.
  static let opening = 256 << 20
  /// The maximum number of pictures that share a sandboxed process, one after the other.
  static let maxPictures = 40
  /// The maximum file size in bytes of a picture that shares its process; photographs are smaller. A new process must
  /// allocate all memory again, which takes a third longer than a photograph's tiles.
  private static let small = 32 << 20

  init(_ server: ProcessLauncher, _ builder: LibraryBuilder, _ pool: WorkPool) {
    self.server = server
    self.builder = builder
    self.pool = pool
  }

  /// - Parameter upcoming: sources that may be built in the same process afterwards.
  func build(_ job: PictureJob, before upcoming: () -> ArraySlice<SourceScan.Source>) -> PictureResult {
    var isAlone = false
    while true {
      let wasFresh = process == nil || asked == 0 || !readable.contains(job.source.path)
      do throws(BuildJob.Stop) {
        if isAlone { pool.reserve(pool.memoryLimit) }
        defer { if isAlone { pool.release(pool.memoryLimit) } }
        if wasFresh || isAlone { try begin(job, isAlone ? [] : upcoming()) }
        let answer = try ask(job, isAlone: isAlone)
        // The process has no further picture. A source of several pages is ordered again.
        if isAlone || isLast(job), case .outcome = answer { end() }
        return answer
      } catch {
        end()
        switch error {
        case .builder(let error): return .outcome(.failed(error))
        case .process(.memory(let bytes)) where !isAlone && bytes < pool.memoryLimit:
          // The process needs more memory than estimated. It gets a second try with all memory for pictures.
          isAlone = true
        case .process(let end):
          if !wasFresh, !isAlone, end.mayBeOfEarlier { continue }
          return failed(job, end)
        }
      }
    }
  }

  /// Releases the sandboxed process.
  func end() {
    process?.end()
    process = nil
    asked = 0
    readable = []
  }

  private func failed(_ job: PictureJob, _ end: TerminationReason) -> PictureResult {
    server.count(end)
    if case .cancelled = end { return .outcome(.failed(.interrupted)) }
    return .outcome(.failed(BuildError(job.source.path, end)))
  }

  private func begin(
    _ job: PictureJob, _ upcoming: ArraySlice<SourceScan.Source>
  ) throws(BuildJob.Stop) {
    end()
    let source = job.source
    let needs = SourceNeeds(job.file)
    var files = needs.openFiles()
    defer { for file in files { close(file) } }
    readable = [source.path]
    if !needs.isUncommon, Self.isSmall(source) {
      for next in upcoming where Self.isSmall(next) && files.count < Self.maxPictures {
        // An unreadable source is reported when it is built.
        guard let file = try? SourceFile(path: next.path) else { continue }
        let needs = SourceNeeds(file)
        if needs.isUncommon { continue }
        files += needs.openFiles()
        readable.insert(next.path)
      }
    }
    let seconds = builder.imageTimeout
    let limits = SandboxLimits(
      memory: min(Self.opening, pool.memoryLimit), maxMemory: pool.memoryLimit,
      processorSeconds: seconds * builder.jobs * readable.count + 5)
    do throws(TerminationReason) {
      process = try server.begin(BuildWorker.kind, limits, reading: files, preload: needs.preload)
    } catch {
      throw .process(error)
    }
  }

  private static func isSmall(_ source: SourceScan.Source) -> Bool {
    var status = stat()
    return stat(source.path, &status) == 0 && status.st_size <= small
  }

  /// Whether the sandboxed process has no further picture after this one.
  private func isLast(_ job: PictureJob) -> Bool { job.page == nil && readable.count == 1 }

  private func ask(_ job: PictureJob, isAlone: Bool) throws(BuildJob.Stop) -> PictureResult {
    guard let process else { throw .process(.unavailable(ECHILD)) }
    asked += 1
    var order = BuildOrder(
      path: job.source.path, name: job.file.name,
      root: job.source.id.name, page: job.page, folio: job.source.folio, associated: job.associated,
      digest: job.digest,
      metadata: job.metadata, countsOnly: builder.isDryRun)
    let options = builder.options(of: job.source)
    if builder.hasOwnOptions || options != builder.options { order.options = OrderedOptions(options) }
    if let password = builder.pdfPassword, SourceNeeds(job.file).isPDF { order.pdfPassword = password }
    if isAlone { process.allow(memory: pool.memoryLimit) }
    var carried = BuildJob(job, process, builder, pool, isAlone: isAlone)
    defer {
      carried.end()
      if carried.hasEndedProcess { end() }
    }
    let nameless = SourceNeeds.openNameless(job.source.path)
    defer { if let nameless { close(nameless) } }
    return try carried.run(order, nameless.map { [$0] } ?? [])
  }
}
