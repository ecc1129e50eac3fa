import Glibc
import Synchronization
import ZigguratCSandbox

/// A sandboxed process that works on untrusted data. It has its end of a socket, the files that it received and nothing
/// else. It ends at the latest when its owner releases it.
///
/// Sendable, like every property: one thread at a time receives messages.
package final class SandboxedProcess: Sendable {
  private let channel: WorkerChannel
  /// The status channel to the server: closing it ends the process, and it reports how the process ended.
  private let status: ProcessStatus

  init(channel: WorkerChannel, status: ProcessStatus) {
    self.channel = channel
    self.status = status
  }

  /// The timeout of a wait for a process.
  package struct Timeout {
    let deadline: ContinuousClock.Instant
    let seconds: Int
    let isCancelled: () -> Bool

    /// - Parameters:
    ///   - deadline: the time after which the process is ended.
    ///   - seconds: the timeout, for the error.
    ///   - isCancelled: called some thirty times a second; true ends the process.
    package init(
      until deadline: ContinuousClock.Instant, of seconds: Int, isCancelled: @escaping () -> Bool = { false }
    ) {
      self.deadline = deadline
      self.seconds = seconds
      self.isCancelled = isCancelled
    }

    /// Creates a timeout that starts now.
    package init(seconds: Int, isCancelled: @escaping () -> Bool = { false }) {
      self.init(until: .now + .seconds(seconds), of: seconds, isCancelled: isCancelled)
    }

    /// The reason why the wait is over; nil if it is not.
    var end: TerminationReason? {
      if isCancelled() { return .cancelled }
      return ContinuousClock.now > deadline ? .time(seconds) : nil
    }
  }

  /// - Parameter files: descriptors that are sent to the process; the sender keeps its own.
  package func send(
    _ kind: UInt32, _ bytes: [UInt8] = [], files: [Int32] = [], within timeout: Timeout
  ) throws(TerminationReason) {
    try carry(timeout) { (mayGoOn) throws(WorkerChannel.ChannelError) in
      try bytes.withUnsafeBufferPointer { (bytes) throws(WorkerChannel.ChannelError) in
        try channel.send(kind, UnsafeRawBufferPointer(bytes), files: files, mayGoOn: mayGoOn)
      }
    }
  }

  /// Waits for the process's next message; throws the reason if the process ended.
  ///
  /// - Parameter longest: returns the maximum size in bytes of a message of a kind; a process that sends more is ended.
  package func receive(
    longest: (_ kind: UInt32) -> Int, within timeout: Timeout
  ) throws(TerminationReason) -> WorkerMessage {
    // Checked also if messages arrive without a pause.
    if let end = timeout.end {
      self.end()
      throw end
    }
    return try carry(timeout) { (mayGoOn) throws(WorkerChannel.ChannelError) in
      try channel.receive(longest: longest, takesFiles: false, mayGoOn: mayGoOn)
    }
  }

  private func carry<Result>(
    _ timeout: Timeout, _ work: (_ mayGoOn: @escaping () -> Bool) throws(WorkerChannel.ChannelError) -> Result
  ) throws(TerminationReason) -> Result {
    var end = TerminationReason.garbled
    do throws(WorkerChannel.ChannelError) {
      return try work {
        guard let reason = timeout.end else { return true }
        end = reason
        return false
      }
    } catch .closed {
      throw status.end { timeout.end == nil }
    } catch {
      self.end()
      throw end
    }
  }

  /// Sets the maximum memory of the process from now on, in bytes.
  package func allow(memory: Int) { status.allow(memory: memory) }

  /// Ends the process at any point of its work; does nothing if it has ended.
  package func end() { status.close() }

  /// Ends the process and waits until it is gone: from then on, it changes none of its files.
  package func endAndWait() { _ = status.end { false } }
}

/// The channel over which the server reports how a process ended.
final class ProcessStatus: Sendable {
  private let descriptor: Mutex<Int32>
  private let known = Mutex<TerminationReason?>(nil)
  /// The maximum time between the closing of a process's channel and its end.
  private static let grace = Duration.seconds(10)

  init(_ descriptor: Int32) { self.descriptor = Mutex(descriptor) }

  deinit { close() }

  func allow(memory: Int) {
    let record = SpawnReply(kind: .allow, value: memory).bytes
    descriptor.withLock { descriptor in
      if descriptor >= 0 {
        _ = record.withUnsafeBytes { sandbox_send(descriptor, $0.baseAddress, $0.count, nil, 0, 0) }
      }
    }
  }

  /// Returns how the process ended, after its channel was closed. A process that has closed it and lives on is ended.
  ///
  /// - Parameter mayWait: called some thirty times a second during the grace period; false ends it.
  func end(mayWait: () -> Bool) -> TerminationReason {
    if let known = known.withLock({ $0 }) { return known }
    let descriptor = descriptor.withLock { $0 }
    var end = TerminationReason.cancelled
    if descriptor >= 0 {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      // A killed process closes its files some time before it is gone, if the processors are busy.
      let deadline = ContinuousClock.now + Self.grace
      var hasEnded = poll(&waiting, 1, 0) > 0
      while !hasEnded, mayWait(), .now < deadline { hasEnded = poll(&waiting, 1, 30) > 0 }
      // To the server, this means that the process is no longer needed.
      if !hasEnded { shutdown(descriptor, Int32(SHUT_WR)) }
      end = .unavailable(ECHILD)
      while let record = SpawnReply.read(from: descriptor) {
        guard let reported = record.end else { continue }
        end = hasEnded ? reported : .garbled
        break
      }
    }
    known.withLock { $0 = end }
    close()
    return end
  }

  func close() {
    descriptor.withLock { descriptor in
      if descriptor >= 0 { Glibc.close(descriptor) }
      descriptor = -1
    }
  }
}
