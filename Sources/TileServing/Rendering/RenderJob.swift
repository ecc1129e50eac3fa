import Synchronization
package import ZigguratHTTPMessages
import ZigguratTileRendering

/// A picture to be rendered: the work, and a key that identifies equal pictures.
package final class RenderJob: Sendable {
  /// The class of threads that render a job, chosen by its expected duration. A thumbnail never waits for a poster.
  enum Lane: Int, CaseIterable {
    case quick, long
  }

  /// Equal keys produce equal bytes: the archive's generation and all parameters of the picture.
  package let key: String
  let cost: RenderCost
  /// Whether the picture may be cached now.
  let mayBeKept: @Sendable () -> Bool
  let work: @Sendable (Cancellation) throws(RenderError) -> [UInt8]
  /// The response if rendering fails.
  let failure: Response
  /// Requested when no client waits any more.
  let cancellation = Cancellation()
  /// The time at which a thread started the job. `nil` before that, or if an equal job is rendered instead.
  private let began = Mutex<ContinuousClock.Instant?>(nil)

  init(
    key: String, cost: RenderCost, failure: Response, mayBeKept: @escaping @Sendable () -> Bool,
    work: @escaping @Sendable (Cancellation) throws(RenderError) -> [UInt8]
  ) {
    self.key = key
    self.cost = cost
    self.failure = failure
    self.work = work
    self.mayBeKept = mayBeKept
  }

  func begin() { began.withLock { $0 = .now } }

  /// Returns the times that a client spent in the queue and waiting for the render.
  func timings(since asked: ContinuousClock.Instant) -> [ResponseTiming] {
    let now = ContinuousClock.now
    guard let began = began.withLock({ $0 }), began > asked else {
      return [ResponseTiming("queue", now - asked)]
    }
    return [ResponseTiming("queue", began - asked), ResponseTiming("render", now - began)]
  }

  /// The estimated size, typical of a photograph. Formats with more bytes per pixel also take longer per pixel.
  var likelyBytes: Int { cost.pixels / 8 }

  var lane: Lane { cost > .quick ? .long : .quick }
}

/// The result of a render job.
package enum RenderOutcome: Sendable {
  case done(RenderedBytes)
  /// A refusal or an error.
  case refused(Response)
}

/// The bytes of a rendered picture, shared by all clients that receive it.
package final class RenderedBytes: @unchecked Sendable {
  // Sendable: written only in `init`.
  package let bytes: UnsafeRawBufferPointer

  init(_ bytes: [UInt8]) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    memory.copyBytes(from: bytes)
    self.bytes = UnsafeRawBufferPointer(memory)
  }

  deinit { bytes.deallocate() }
}
