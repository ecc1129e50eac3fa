import Glibc
import Synchronization
import ZigguratHTTPMessages
import ZigguratUploading

/// Tells of uploads to all who listen; a bounded number may.
package final class EventHub: Sendable {
  /// Listeners at once: each holds a connection.
  static let limit = 64

  private let streams = Mutex<(open: [EventStream], isClosed: Bool)>(([], false))

  /// Returns the events for a new listener; nil if there are too many listeners.
  /// - Parameters:
  ///   - isWelcome: whether the listener's session goes on; nil where it needs none.
  ///   - sees: whether the listener may be told of an upload, now.
  func open(
    with uploads: [Upload], isWelcome: (@Sendable () -> Bool)? = nil,
    sees: @escaping @Sendable (Upload) -> Bool
  ) -> EventStream? {
    let stream = EventStream(isWelcome: isWelcome, sees: sees)
    let isTaken = streams.withLock { streams in
      streams.open.removeAll { $0.isClosed }
      guard !streams.isClosed, streams.open.count < Self.limit else { return false }
      streams.open.append(stream)
      return true
    }
    guard isTaken else { return nil }
    for upload in uploads { stream.tell(upload) }
    return stream
  }

  func tell(_ upload: Upload) {
    for stream in streams.withLock({ $0.open }) { stream.tell(upload) }
  }

  /// Ends the streams of sessions that have ended.
  func endWithSessions() {
    for stream in streams.withLock({ $0.open }) where stream.isWelcome?() == false { stream.close() }
  }

  /// A sign of life to every listener, by which connections that are broken are found out. To be called every
  /// few seconds.
  package func beat() {
    endWithSessions()
    for stream in streams.withLock({ $0.open }) { stream.beat() }
    streams.withLock { $0.open.removeAll { $0.isClosed } }
  }

  /// Ends all streams; nobody may listen any more.
  package func close() {
    let all = streams.withLock { streams in
      streams.isClosed = true
      defer { streams.open = [] }
      return streams.open
    }
    for stream in all { stream.close() }
  }
}

/// The events that one listener has not been sent (HTML standard, "server-sent events"). It keeps only the newest state of each
/// upload, so that a slow listener takes no more memory than there are uploads.
final class EventStream: BodyStream {
  private struct State {
    var order: [Upload] = []
    var ids: Set<String> = []
    /// Bytes that did not fit.
    var rest: [UInt8] = Array("retry: 2000\n\n".utf8)
    var wake: (@Sendable () -> Void)?
    var isClosed = false
  }

  private let state = Mutex(State())
  fileprivate let isWelcome: (@Sendable () -> Bool)?
  private let sees: @Sendable (Upload) -> Bool

  init(isWelcome: (@Sendable () -> Bool)?, sees: @escaping @Sendable (Upload) -> Bool) {
    self.isWelcome = isWelcome
    self.sees = sees
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  func tell(_ upload: Upload) {
    guard sees(upload) else { return }
    state.withLock { state in
      guard !state.isClosed else { return }
      if state.ids.insert(upload.id).inserted { state.order.append(upload) }
      Self.wake(&state)
    }
  }

  func beat() {
    state.withLock { state in
      guard !state.isClosed else { return }
      if state.rest.isEmpty, state.order.isEmpty { state.rest = Array(":\n\n".utf8) }
      Self.wake(&state)
    }
  }

  /// No more is sent; also once the listener is gone.
  package func close() {
    state.withLock { state in
      state.isClosed = true
      Self.wake(&state)
    }
  }

  /// Under the lock, so that whoever sleeps is woken once.
  private static func wake(_ state: inout State) {
    state.wake?()
    state.wake = nil
  }

  /// Copies what there is to send into `room`.
  /// - Parameter sleep: called where there is nothing, before anyone may wake; gives what wakes.
  /// - Returns: bytes; 0 after `sleep` was called; nil at the end.
  package func read(
    into room: UnsafeMutableRawBufferPointer, sleep: () -> @Sendable () -> Void
  ) -> Int? {
    state.withLock { state in
      if state.isClosed { return nil }
      while state.rest.count < room.count, !state.order.isEmpty {
        let upload = state.order.removeFirst()
        state.ids.remove(upload.id)
        state.rest += Array("event: upload\ndata: ".utf8) + upload.json + Array("\n\n".utf8)
      }
      guard !state.rest.isEmpty else {
        state.wake = sleep()
        return 0
      }
      let count = min(room.count, state.rest.count)
      room.copyBytes(from: state.rest.prefix(count))
      state.rest.removeFirst(count)
      return count
    }
  }
}
