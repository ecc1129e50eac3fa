import Glibc
import Synchronization
import ZigguratHTTPMessages
import ZigguratUploading

/// A broadcaster of server-sent events (SSE): sends the states of uploads to a bounded number of listeners.
package final class UploadEventBroadcaster: Sendable {
  /// Maximum number of listeners, because each holds a connection.
  static let limit = 64

  private let streams = Mutex<(open: [EventStream], isClosed: Bool)>(([], false))

  /// Opens a stream. Returns `nil` if there are too many listeners.
  /// - Parameters:
  ///   - isWelcome: whether the listener's session is alive; `nil` if no session is needed.
  ///   - sees: whether the listener may see an upload at present.
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
    for upload in uploads { stream.notify(upload) }
    return stream
  }

  func notify(_ upload: Upload) {
    for stream in streams.withLock({ $0.open }) { stream.notify(upload) }
  }

  /// Closes the streams whose sessions have ended.
  func endWithSessions() {
    for stream in streams.withLock({ $0.open }) where stream.isWelcome?() == false { stream.close() }
  }

  /// Sends a heartbeat to every listener, so that broken connections are detected. To be called every few seconds.
  package func beat() {
    endWithSessions()
    for stream in streams.withLock({ $0.open }) { stream.beat() }
    streams.withLock { $0.open.removeAll { $0.isClosed } }
  }

  /// Closes all streams and rejects new listeners.
  package func close() {
    let all = streams.withLock { streams in
      streams.isClosed = true
      defer { streams.open = [] }
      return streams.open
    }
    for stream in all { stream.close() }
  }
}

/// The pending events of one listener (HTML standard, "server-sent events"). It holds only the latest state of each
/// upload, so that the memory for a slow listener is bounded by the number of uploads.
final class EventStream: BodyStream {
  private struct State {
    var order: [Upload] = []
    var ids: Set<String> = []
    /// Bytes that did not fit into the last read.
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

  func notify(_ upload: Upload) {
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

  /// Ends the stream. Also called once the listener has disconnected.
  package func close() {
    state.withLock { state in
      state.isClosed = true
      Self.wake(&state)
    }
  }

  /// Called under the lock, so that a sleeping reader is woken once.
  private static func wake(_ state: inout State) {
    state.wake?()
    state.wake = nil
  }

  /// Copies pending bytes into `room`.
  /// - Parameter sleep: called under the lock if nothing is pending; returns the function that wakes the reader.
  /// - Returns: the number of bytes; 0 after `sleep` was called; `nil` at the end.
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
