import CCell
import Glibc
import Synchronization

/// One end of the socket between a process and a cell.
///
/// Sendable, as every property is: the descriptor is read by one thread at a time, and messages are sent under a lock.
final class CellChannel: Sendable {
  enum Fault: Error {
    /// The other end is closed.
    case closed
    /// A message is longer than its receiver expects.
    case tooLong
    /// The time was up, or it was asked to stop.
    case stopped
  }

  let descriptor: Int32
  private let isInCell: Bool
  private let sending = Mutex(())

  /// - Parameter isInCell: the end that a cell holds, whose filter knows no system call but read, write and recvmsg.
  init(_ descriptor: Int32, isInCell: Bool) { (self.descriptor, self.isInCell) = (descriptor, isInCell) }

  deinit { close(descriptor) }

  func send(_ kind: UInt32, _ bytes: UnsafeRawBufferPointer, files: [Int32] = []) throws(Fault) {
    let head = CellMessage.head(kind: kind, count: bytes.count)
    let isSent = sending.withLock { _ in
      let isSent = head.withUnsafeBytes { sendAll($0, files) }
      return isSent && sendAll(bytes, [])
    }
    guard isSent else { throw .closed }
  }

  /// The next message, waited for.
  ///
  /// - Parameters:
  ///   - longest: bytes that it may have.
  ///   - takesFiles: whether descriptors that come along are taken; else they are closed unseen.
  ///   - mayGoOn: asked some thirty times a second while nothing comes.
  func receive(
    longest: Int, takesFiles: Bool, mayGoOn: (() -> Bool)? = nil
  ) throws(Fault) -> CellMessage {
    var head = [UInt8](repeating: 0, count: CellMessage.headSize)
    var files: [Int32] = []
    try fill(&head, &files, takesFiles: takesFiles, mayGoOn)
    let (kind, count) = CellMessage.parse(head: head)
    guard count <= longest else {
      for file in files { close(file) }
      throw .tooLong
    }
    var bytes = [UInt8](repeating: 0, count: count)
    if count > 0 { try fill(&bytes, &files, takesFiles: false, mayGoOn) }
    return CellMessage(kind: kind, bytes: bytes, files: files)
  }

  private func fill(
    _ bytes: inout [UInt8], _ files: inout [Int32], takesFiles: Bool, _ mayGoOn: (() -> Bool)?
  ) throws(Fault) {
    var count = 0
    while count < bytes.count {
      if let mayGoOn {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, 30) <= 0 { if !mayGoOn() { throw .stopped } }
      }
      let part = bytes.withUnsafeMutableBytes { buffer in
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
        return takesFiles ? receive(rest, &files) : read(descriptor, rest.baseAddress, rest.count)
      }
      if part < 0, errno == EINTR { continue }
      guard part > 0 else { throw .closed }
      count += part
    }
  }

  private func receive(_ buffer: UnsafeMutableRawBufferPointer, _ files: inout [Int32]) -> Int {
    var number: Int32 = 0
    return withUnsafeTemporaryAllocation(of: Int32.self, capacity: Int(CELL_MOST_FILES)) { taken in
      let got = cell_receive(descriptor, buffer.baseAddress, buffer.count, taken.baseAddress, &number)
      if got > 0 { files += taken.prefix(Int(number)) }
      return got
    }
  }

  private func sendAll(_ bytes: UnsafeRawBufferPointer, _ files: [Int32]) -> Bool {
    var rest = bytes[...]
    var files = files
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      // A cell that nobody listens to may end by SIGPIPE; nobody else may.
      let sent =
        isInCell
        ? write(descriptor, part.baseAddress, part.count)
        : cell_send(descriptor, part.baseAddress, part.count, files, Int32(files.count))
      if sent < 0, errno == EINTR { continue }
      guard sent > 0 else { return false }
      files = []
      rest = rest.dropFirst(sent)
    }
    return true
  }
}
