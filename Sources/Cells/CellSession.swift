import Glibc

/// A cell's own side: what it is asked and what it answers.
package final class CellSession: Sendable {
  private let channel: CellChannel

  init(_ channel: CellChannel) { self.channel = channel }

  /// The next message, waited for. Where nobody is left who could send one the process ends here.
  package func next() -> CellMessage {
    do throws(CellChannel.Fault) {
      return try channel.receive(longest: { _ in Int(UInt32.max) }, takesFiles: true)
    } catch { _exit(0) }
  }

  /// The same, with something to do every so often while nothing comes.
  ///
  /// - Parameter whileWaiting: called some thirty times a second.
  package func next(whileWaiting: () -> Void) -> CellMessage {
    do throws(CellChannel.Fault) {
      return try withoutActuallyEscaping(whileWaiting) { (whileWaiting) throws(CellChannel.Fault) in
        try channel.receive(longest: { _ in Int(UInt32.max) }, takesFiles: true) {
          whileWaiting()
          return true
        }
      }
    } catch { _exit(0) }
  }

  /// The same, for a cell that is kept for the next question: after so many seconds without one the process ends.
  package func next(patience: Int) -> CellMessage {
    let end = ContinuousClock.now + .seconds(patience)
    return next { if ContinuousClock.now > end { _exit(0) } }
  }

  package func send(_ kind: UInt32, _ bytes: [UInt8] = []) { bytes.withUnsafeBytes { send(kind, $0) } }

  package func send(_ kind: UInt32, _ bytes: UnsafeRawBufferPointer) {
    do throws(CellChannel.Fault) { try channel.send(kind, bytes) } catch { _exit(0) }
  }
}

/// What a kind of cell does from its start on, in its own process, confined. It is not expected to return.
package typealias CellWork = @Sendable (CellSession) -> Void
