import Synchronization
package import ZigguratHTTPMessages
import ZigguratTileRendering

/// A picture that has to be made before it can be sent: what makes it, and what tells it from others.
package final class RenderJob: Sendable {
  /// How long a render may take decides which threads are there for it: a thumbnail waits for no poster.
  enum Lane: Int, CaseIterable {
    case quick, long
  }

  /// Equal keys make equal bytes: the archive's generation and all that the picture depends on.
  package let key: String
  let cost: RenderCost
  /// Whether the picture may be kept now.
  let mayBeKept: @Sendable () -> Bool
  let work: @Sendable (Cancellation) throws(RenderError) -> [UInt8]
  /// The response if the picture cannot be made.
  let failure: Response
  /// Asked for when nobody waits any more.
  let cancellation = Cancellation()
  /// When a thread began with it; nil before, and if an equal job is rendered in its place.
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

  /// How long a waiter has waited for its turn and for the render.
  func timings(since asked: ContinuousClock.Instant) -> [ResponseTiming] {
    let now = ContinuousClock.now
    guard let began = began.withLock({ $0 }), began > asked else {
      return [ResponseTiming("queue", now - asked)]
    }
    return [ResponseTiming("queue", began - asked), ResponseTiming("render", now - began)]
  }

  /// About what a photograph has: a format that writes more to a pixel takes longer for it, too.
  var likelyBytes: Int { cost.pixels / 8 }

  var lane: Lane { cost > .quick ? .long : .quick }
}

/// How a render job ended.
package enum RenderOutcome: Sendable {
  case done(RenderedBytes)
  /// Another response instead.
  case refused(Response)
}

/// A rendered picture's bytes, at one place in memory for all who are sent them.
package final class RenderedBytes: @unchecked Sendable {
  // Sendable: written in `init` only.
  package let bytes: UnsafeRawBufferPointer

  init(_ bytes: [UInt8]) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    memory.copyBytes(from: bytes)
    self.bytes = UnsafeRawBufferPointer(memory)
  }

  deinit { bytes.deallocate() }
}
