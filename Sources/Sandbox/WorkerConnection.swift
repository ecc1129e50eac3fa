import Glibc

/// The sandboxed process's side of the connection: requests and answers.
package final class WorkerConnection: Sendable {
  private let channel: WorkerChannel

  init(_ channel: WorkerChannel) { self.channel = channel }

  /// Waits for the next message. If no sender is left, the process exits here.
  package func next() -> WorkerMessage {
    do throws(WorkerChannel.ChannelError) {
      return try channel.receive(longest: { _ in Int(UInt32.max) }, takesFiles: true)
    } catch { _exit(0) }
  }

  /// Waits for the next message, with a periodic call meanwhile.
  ///
  /// - Parameter whileWaiting: called some thirty times a second.
  package func next(whileWaiting: () -> Void) -> WorkerMessage {
    do throws(WorkerChannel.ChannelError) {
      return try withoutActuallyEscaping(whileWaiting) { (whileWaiting) throws(WorkerChannel.ChannelError) in
        try channel.receive(longest: { _ in Int(UInt32.max) }, takesFiles: true) {
          whileWaiting()
          return true
        }
      }
    } catch { _exit(0) }
  }

  /// Waits for the next message in a process that is kept: after `timeout` seconds without one, the process exits.
  package func next(timeout: Int) -> WorkerMessage {
    let end = ContinuousClock.now + .seconds(timeout)
    return next { if ContinuousClock.now > end { _exit(0) } }
  }

  package func send(_ kind: UInt32, _ bytes: [UInt8] = []) { bytes.withUnsafeBytes { send(kind, $0) } }

  package func send(_ kind: UInt32, _ bytes: UnsafeRawBufferPointer) {
    do throws(WorkerChannel.ChannelError) { try channel.send(kind, bytes) } catch { _exit(0) }
  }
}

/// The main function of a kind, in its own process, confined. It is not expected to return.
package typealias WorkerMain = @Sendable (WorkerConnection) -> Void
