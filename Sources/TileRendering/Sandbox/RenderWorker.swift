import Glibc
import ZigguratCSandbox
package import ZigguratSandbox

/// A sandboxed process that renders pictures from the tiles of one archive, for `RenderWorkers`.
package enum RenderWorker {
  package static let kind = ProcessLauncher.Kind(rawValue: 4)

  /// The idle time in seconds after which the process exits.
  static let idleSeconds = 10

  /// The main function of the process.
  package static let work: WorkerMain = { session in
    // The next picture needs as much memory again: returning it in between takes a tenth of a small picture's time.
    mallopt(M_MMAP_THRESHOLD, 32 << 20)
    mallopt(M_TRIM_THRESHOLD, 64 << 20)
    var known: TileRenderer?
    while true {
      let message = session.next(timeout: idleSeconds)
      guard message.kind == RenderMessage.render,
        let question = RenderMessage.parse(question: message.bytes)
      else { _exit(2) }
      let renderer = known ?? TileRenderer(options: question.options)
      known = renderer
      let start = processorTime
      func effort() -> RenderMessage.Effort {
        RenderMessage.Effort(nanoseconds: processorTime - start, cachedBytes: renderer.cachedBytes)
      }
      do throws(RenderError) {
        let picture = try question.request.render(by: renderer) { numbers in
          let there = numbers.prefix { question.tiles[$0] != nil }
          if !there.isEmpty { return there.map { question.tiles[$0]! } }
          let wanted = Array(numbers.prefix(RenderMessage.maxWanted))
          wanted.withUnsafeBytes { session.send(RenderMessage.want, $0) }
          return RenderMessage.parse(tiles: session.next().bytes[...])
        }
        session.send(RenderMessage.picture, RenderMessage.answer(effort(), picture))
      } catch {
        session.send(RenderMessage.failed, RenderMessage.answer(effort(), error))
      }
    }
  }

  /// The processor time of the whole process in nanoseconds.
  private static var processorTime: Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
