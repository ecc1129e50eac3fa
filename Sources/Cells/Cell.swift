import Glibc
import Synchronization
import ZigguratCCell

/// A process of its own that works on what a stranger made: it has its end of a socket, the files it was given and
/// nothing else. It ends at the latest when its owner lets go of it.
///
/// Sendable, as every property is: messages are received by one thread at a time.
package final class Cell: Sendable {
  private let channel: CellChannel
  /// To the server of cells: closing it ends the cell; what ended it is read from it.
  private let status: CellStatus

  init(channel: CellChannel, status: CellStatus) { (self.channel, self.status) = (channel, status) }

  /// How long a cell is waited for.
  package struct Patience {
    let deadline: ContinuousClock.Instant
    let seconds: Int
    let isCancelled: () -> Bool

    /// - Parameters:
    ///   - deadline: after which the cell is ended.
    ///   - seconds: that it was allowed, as the error tells.
    ///   - isCancelled: asked some thirty times a second; true ends the cell.
    package init(
      until deadline: ContinuousClock.Instant, of seconds: Int, isCancelled: @escaping () -> Bool = { false }
    ) {
      self.deadline = deadline
      self.seconds = seconds
      self.isCancelled = isCancelled
    }

    /// So many seconds from now on.
    package init(seconds: Int, isCancelled: @escaping () -> Bool = { false }) {
      self.init(until: .now + .seconds(seconds), of: seconds, isCancelled: isCancelled)
    }

    /// Why there is none left; nil where there is.
    var end: CellEnd? {
      if isCancelled() { return .cancelled }
      return ContinuousClock.now > deadline ? .time(seconds) : nil
    }
  }

  /// - Parameter files: descriptors that the cell gets; the sender keeps its own.
  package func send(
    _ kind: UInt32, _ bytes: [UInt8] = [], files: [Int32] = [], within patience: Patience
  ) throws(CellEnd) {
    try carry(patience) { (mayGoOn) throws(CellChannel.Fault) in
      try bytes.withUnsafeBufferPointer { (bytes) throws(CellChannel.Fault) in
        try channel.send(kind, UnsafeRawBufferPointer(bytes), files: files, mayGoOn: mayGoOn)
      }
    }
  }

  /// Waits for the cell's next message; what ended the cell is thrown.
  ///
  /// - Parameter longest: bytes that a message of a kind may have; a cell that says more is ended.
  package func receive(
    longest: (_ kind: UInt32) -> Int, within patience: Patience
  ) throws(CellEnd) -> CellMessage {
    // Also where messages come without a pause.
    if let end = patience.end {
      self.end()
      throw end
    }
    return try carry(patience) { (mayGoOn) throws(CellChannel.Fault) in
      try channel.receive(longest: longest, takesFiles: false, mayGoOn: mayGoOn)
    }
  }

  private func carry<Result>(
    _ patience: Patience, _ work: (_ mayGoOn: @escaping () -> Bool) throws(CellChannel.Fault) -> Result
  ) throws(CellEnd) -> Result {
    var end = CellEnd.garbled
    do throws(CellChannel.Fault) {
      return try work {
        guard let reason = patience.end else { return true }
        end = reason
        return false
      }
    } catch .closed {
      throw status.end { patience.end == nil }
    } catch {
      self.end()
      throw end
    }
  }

  /// Allows the cell so many bytes of memory from now on.
  package func allow(memory: Int) { status.allow(memory: memory) }

  /// Ends the cell, whatever it is doing; does nothing where it has ended.
  package func end() { status.close() }

  /// The same, and waits until it is gone: nothing that it was given changes any more.
  package func endAndWait() { _ = status.end { false } }
}

/// The line over which the server of cells tells how a cell ended.
final class CellStatus: Sendable {
  private let descriptor: Mutex<Int32>
  private let known = Mutex<CellEnd?>(nil)
  /// What a process has between closing its channel and its end.
  private static let grace = Duration.seconds(10)

  init(_ descriptor: Int32) { self.descriptor = Mutex(descriptor) }

  deinit { close() }

  func allow(memory: Int) {
    let record = CellRecord(kind: .allow, value: memory).bytes
    descriptor.withLock { descriptor in
      if descriptor >= 0 {
        _ = record.withUnsafeBytes { cell_send(descriptor, $0.baseAddress, $0.count, nil, 0, 0) }
      }
    }
  }

  /// What ended the cell: its channel is closed already. A process that has closed it and lives on is ended.
  ///
  /// - Parameter mayWait: asked some thirty times a second while the process has time for that.
  func end(mayWait: () -> Bool) -> CellEnd {
    if let known = known.withLock({ $0 }) { return known }
    let descriptor = descriptor.withLock { $0 }
    var end = CellEnd.cancelled
    if descriptor >= 0 {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      // A process that was killed closes its files some time before it is gone, if the processors have others to run.
      let deadline = ContinuousClock.now + Self.grace
      var hasEnded = poll(&waiting, 1, 0) > 0
      while !hasEnded, mayWait(), .now < deadline { hasEnded = poll(&waiting, 1, 30) > 0 }
      // The server takes it for the word that nobody wants the cell any more.
      if !hasEnded { shutdown(descriptor, Int32(SHUT_WR)) }
      end = .unavailable(ECHILD)
      while let record = CellRecord.read(from: descriptor) {
        guard let told = record.end else { continue }
        end = hasEnded ? told : .garbled
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
