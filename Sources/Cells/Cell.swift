import CCell
import Glibc
import Synchronization

/// A process of its own that works on what a stranger made: it has its end of a socket, the files it was given and
/// nothing else. It ends at the latest when its owner lets go of it.
///
/// Sendable, as every property is: messages are received by one thread at a time.
public final class Cell: Sendable {
  private let channel: CellChannel
  /// To the server of cells: closing it ends the cell; what ended it is read from it.
  private let status: CellStatus

  init(channel: CellChannel, status: CellStatus) { (self.channel, self.status) = (channel, status) }

  /// - Parameter files: descriptors that the cell gets; the sender keeps its own.
  public func send(_ kind: UInt32, _ bytes: [UInt8] = [], files: [Int32] = []) throws(CellEnd) {
    try bytes.withUnsafeBufferPointer { (bytes) throws(CellEnd) in
      try send(kind, UnsafeRawBufferPointer(bytes), files: files)
    }
  }

  public func send(
    _ kind: UInt32, _ bytes: UnsafeRawBufferPointer, files: [Int32] = []
  ) throws(CellEnd) {
    do throws(CellChannel.Fault) { try channel.send(kind, bytes, files: files) } catch {
      throw status.end()
    }
  }

  /// Waits for the cell's next message; what ended the cell is thrown.
  ///
  /// - Parameters:
  ///   - longest: bytes that the message may have; a cell that says more is ended.
  ///   - deadline: after which the cell is ended, with the seconds that were allowed.
  ///   - isCancelled: asked some thirty times a second; true ends the cell.
  public func receive(
    longest: Int = CellMessage.longest, by deadline: (instant: ContinuousClock.Instant, seconds: Int)? = nil,
    isCancelled: () -> Bool = { false }
  ) throws(CellEnd) -> CellMessage {
    // Also where messages come without a pause.
    if let deadline, ContinuousClock.now > deadline.instant {
      self.end()
      throw .time(deadline.seconds)
    }
    var end = CellEnd.garbled
    do throws(CellChannel.Fault) {
      return try withoutActuallyEscaping(isCancelled) { (isCancelled) throws(CellChannel.Fault) in
        try channel.receive(longest: longest, takesFiles: false) {
          if isCancelled() {
            end = .cancelled
          } else if let deadline, ContinuousClock.now > deadline.instant {
            end = .time(deadline.seconds)
          } else {
            return true
          }
          return false
        }
      }
    } catch .closed {
      throw status.end()
    } catch {
      self.end()
      throw end
    }
  }

  /// Allows the cell so many bytes of memory from now on.
  public func allow(memory: Int) { status.allow(memory: memory) }

  /// Ends the cell, whatever it is doing; does nothing where it has ended.
  public func end() { status.close() }
}

/// The line over which the server of cells tells how a cell ended.
final class CellStatus: Sendable {
  private let descriptor: Mutex<Int32>
  private let known = Mutex<CellEnd?>(nil)

  init(_ descriptor: Int32) { self.descriptor = Mutex(descriptor) }

  deinit { close() }

  func allow(memory: Int) {
    let record = CellRecord(kind: .allow, value: memory).bytes
    descriptor.withLock { descriptor in
      if descriptor >= 0 {
        _ = record.withUnsafeBytes { cell_send(descriptor, $0.baseAddress, $0.count, nil, 0) }
      }
    }
  }

  /// What ended the cell, waited for: its channel is closed already.
  func end() -> CellEnd {
    if let known = known.withLock({ $0 }) { return known }
    let descriptor = descriptor.withLock { $0 }
    var end = CellEnd.cancelled
    if descriptor >= 0 {
      end = .unavailable(ECHILD)
      while let record = CellRecord.read(from: descriptor) {
        guard let told = record.end else { continue }
        end = told
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
