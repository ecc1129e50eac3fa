import Glibc
import Synchronization
import ZigguratCSandbox

/// One end of the socket between a program and a sandboxed process.
///
/// Sendable, like every property: one thread at a time reads the descriptor, and messages are sent under a lock.
final class WorkerChannel: Sendable {
  enum ChannelError: Error {
    /// The other end is closed.
    case closed
    /// A message is longer than its receiver expects.
    case tooLong
    /// The timeout has passed, or the caller has cancelled.
    case stopped
  }

  let descriptor: Int32
  private let isSandboxed: Bool
  private let sending = Mutex(())

  /// - Parameter isSandboxed: whether this is the sandboxed process's end. On sockets, its filter allows only read,
  ///   write and recvmsg.
  init(_ descriptor: Int32, isSandboxed: Bool) {
    self.descriptor = descriptor
    self.isSandboxed = isSandboxed
  }

  deinit { close(descriptor) }

  /// - Parameter mayGoOn: called some thirty times a second while the other end does not accept the message; false
  ///   stops. Nil waits as long as the other end exists.
  func send(
    _ kind: UInt32, _ bytes: UnsafeRawBufferPointer, files: [Int32] = [], mayGoOn: (() -> Bool)? = nil
  ) throws(ChannelError) {
    let head = WorkerMessage.head(kind: kind, count: bytes.count)
    let failure = withoutActuallyEscaping(mayGoOn ?? { true }) { mayGoOn in
      var watch = Watch(descriptor, Int16(POLLOUT), mayGoOn)
      return sending.withLock { _ in
        head.withUnsafeBytes { sendAll($0, files, &watch) } ?? sendAll(bytes, [], &watch)
      }
    }
    if let failure { throw failure }
  }

  /// Waits for the next message and returns it.
  ///
  /// - Parameters:
  ///   - longest: returns the maximum size in bytes of a message of this kind.
  ///   - takesFiles: whether received descriptors are returned; otherwise they are closed.
  ///   - mayGoOn: called some thirty times a second until the message is whole; false stops.
  func receive(
    longest: (_ kind: UInt32) -> Int, takesFiles: Bool, mayGoOn: (() -> Bool)? = nil
  ) throws(ChannelError) -> WorkerMessage {
    try withoutActuallyEscaping(mayGoOn ?? { true }) { (ask) throws(ChannelError) in
      var watch = mayGoOn == nil ? nil : Watch(descriptor, Int16(POLLIN), ask)
      var head = [UInt8](repeating: 0, count: WorkerMessage.headSize)
      var files: [Int32] = []
      try fill(&head, from: 0, &files, takesFiles: takesFiles, &watch)
      let (kind, count) = WorkerMessage.parse(head: head)
      do throws(ChannelError) {
        guard count <= longest(kind) else { throw .tooLong }
        var bytes: [UInt8] = []
        // Memory is allocated for received bytes, not for announced ones.
        while bytes.count < count {
          let filled = bytes.count
          bytes += repeatElement(0, count: min(count - filled, max(filled, Self.firstPart)))
          try fill(&bytes, from: filled, &files, takesFiles: false, &watch)
        }
        return WorkerMessage(kind: kind, bytes: bytes, files: files)
      } catch {
        for file in files { close(file) }
        throw error
      }
    }
  }

  private static let firstPart = 1 << 18

  /// A periodic check whether to go on, which is made whether or not data arrives.
  private struct Watch {
    private static let interval = Duration.milliseconds(30)
    private let descriptor: Int32
    private let events: Int16
    private let mayGoOn: () -> Bool
    private var asked = ContinuousClock.now

    init(_ descriptor: Int32, _ events: Int16, _ mayGoOn: @escaping () -> Bool) {
      self.descriptor = descriptor
      self.events = events
      self.mayGoOn = mayGoOn
    }

    /// Waits until the descriptor is ready; false if the caller has cancelled.
    mutating func wait() -> Bool {
      while true {
        var waiting = pollfd(fd: descriptor, events: events, revents: 0)
        let isReady = poll(&waiting, 1, 30) > 0
        if ContinuousClock.now - asked >= Self.interval {
          guard mayGoOn() else { return false }
          asked = .now
        }
        if isReady { return true }
      }
    }
  }

  private func fill(
    _ bytes: inout [UInt8], from start: Int, _ files: inout [Int32], takesFiles: Bool, _ watch: inout Watch?
  ) throws(ChannelError) {
    var count = start
    while count < bytes.count {
      if watch?.wait() == false { throw .stopped }
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
    return withUnsafeTemporaryAllocation(of: Int32.self, capacity: Int(SANDBOX_MOST_FILES)) { taken in
      let got = sandbox_receive(descriptor, buffer.baseAddress, buffer.count, taken.baseAddress, &number)
      if got > 0 { files += taken.prefix(Int(number)) }
      return got
    }
  }

  private func sendAll(_ bytes: UnsafeRawBufferPointer, _ files: [Int32], _ watch: inout Watch)
    -> ChannelError?
  {
    var rest = bytes[...]
    var files = files
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      // A sandboxed process without a reader may end by SIGPIPE. Other processes must not, and must not wait for a
      // reader either.
      let sent =
        isSandboxed
        ? write(descriptor, part.baseAddress, part.count)
        : sandbox_send(
          descriptor, part.baseAddress, part.count, files, Int32(files.count), Int32(MSG_DONTWAIT))
      if sent < 0, errno == EINTR { continue }
      if sent < 0, errno == EAGAIN {
        if !watch.wait() { return .stopped }
        continue
      }
      guard sent > 0 else { return .closed }
      files = []
      rest = rest.dropFirst(sent)
    }
    return nil
  }
}
