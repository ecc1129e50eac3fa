import Glibc
import Synchronization
import ZigguratCSandbox

/// The launcher of sandboxed processes through a zygote. The zygote was forked while this process had one thread. It
/// has preloaded libraries and forks a process on request. It decodes nothing itself, and ends with the process that
/// started it. A killed zygote is replaced.
package final class ProcessLauncher: Sendable {
  /// The kind of work of a sandboxed process; the call of `start` defines the number.
  package struct Kind: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
  }

  /// A preload that the server does once, before the first process that needs it. The call of `start` defines its
  /// number.
  package struct Preload: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
  }

  /// Counters of all processes so far.
  package struct Counts: Sendable {
    package init() {}

    package var begun = 0
    /// Counted by termination reason. Processes that replied and were released are not counted here.
    package var crashed = 0
    package var overMemory = 0
    package var overTime = 0
  }

  private static let current = Mutex<ProcessLauncher?>(nil)

  /// The server that this process has started; nil before, and in programs that only use the libraries.
  package static var running: ProcessLauncher? { current.withLock { $0 } }

  /// The missing kernel features for sandboxing, as a text for an administrator; nil if nothing is missing.
  package static var kernelLack: String? { SandboxPolicy.lack }

  private let socket: Int32
  /// The missing kernel features for sandboxing, as a text for an administrator; nil if nothing is missing.
  package let lack: String?
  private let state = Mutex(Counts())

  private init(socket: Int32, lack: String?) {
    self.socket = socket
    self.lack = lack
  }

  /// Forks the server. Must be called once, while the process has one thread, before it has any secret.
  ///
  /// - Parameters:
  ///   - work: the main function of each kind.
  ///   - preload: called once in the server, so that no process has to do it. It must read no untrusted bytes, and
  ///     leave no thread.
  ///   - trialPreload: an optional preload for speed. If it leaves a thread, the server is restarted without it.
  ///   - preloads: called in the server before the first process that needs them, under the same conditions as
  ///     `preload`.
  package static func start(
    _ work: [Kind: WorkerMain], preload: @escaping () -> Void, trialPreload: @escaping () -> Void = {},
    preloads: [Preload: () -> Void] = [:]
  ) throws(TerminationReason) {
    precondition(running == nil, "a program has one launcher")
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw .unavailable(errno)
    }
    let process = sandbox_fork()
    guard process >= 0 else {
      let code = errno
      for end in ends { close(end) }
      throw .unavailable(code)
    }
    if process == 0 {
      Supervisor.run(socket: ends[0]) { isTrialPreloaded in
        var forkServer = ForkServer(work: work, preloads: preloads)
        forkServer.run(preload: preload, trialPreload: isTrialPreloaded ? trialPreload : {})
      }
    }
    close(ends[0])
    current.withLock { $0 = ProcessLauncher(socket: ends[1], lack: SandboxPolicy.lack) }
  }

  /// Starts a sandboxed process.
  ///
  /// - Parameters:
  ///   - files: open files that it may read by their names, and folders whose content it may read; at most `maxFiles`.
  ///   - preload: a preload that the server does first, unless it has done it before.
  package func begin(
    _ kind: Kind, _ limits: SandboxLimits, reading files: [Int32] = [], preload: Preload? = nil
  ) throws(TerminationReason) -> SandboxedProcess {
    precondition(files.count <= Self.maxFiles, "a process reads \(Self.maxFiles) files at most")
    var channel: [Int32] = [-1, -1]
    var status: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &channel) == 0 else {
      throw .unavailable(errno)
    }
    guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &status) == 0 else {
      let code = errno
      for end in channel { close(end) }
      throw .unavailable(code)
    }
    let process = SandboxedProcess(
      channel: WorkerChannel(channel[1], isSandboxed: false), status: ProcessStatus(status[1]))
    let request = SpawnRequest(kind: kind, limits: limits, preload: preload).bytes
    let passed = [channel[0], status[0]] + files
    var sent = -1
    repeat {
      sent = request.withUnsafeBytes {
        sandbox_send(socket, $0.baseAddress, $0.count, passed, Int32(passed.count), 0)
      }
    } while sent < 0 && errno == EINTR
    let code = errno
    close(channel[0])
    close(status[0])
    guard sent == request.count else { throw .unavailable(code) }
    state.withLock { $0.begun += 1 }
    return process
  }

  package static let maxFiles = Int(SANDBOX_MOST_FILES) - 2

  /// Counts the end of a process that did not finish its work.
  package func count(_ end: TerminationReason) {
    state.withLock { counts in
      switch end {
      case .time, .signal(SIGXCPU): counts.overTime += 1
      case .signal, .exit, .garbled: counts.crashed += 1
      case .memory: counts.overMemory += 1
      case .cancelled, .unavailable: break
      }
    }
  }

  package var counts: Counts { state.withLock { $0 } }
}

/// A request for a sandboxed process: kind, preload and limits, 48 bytes in one packet.
struct SpawnRequest {
  let kind: ProcessLauncher.Kind
  let limits: SandboxLimits
  let preload: ProcessLauncher.Preload?

  static let size = 48

  init(kind: ProcessLauncher.Kind, limits: SandboxLimits, preload: ProcessLauncher.Preload?) {
    self.kind = kind
    self.limits = limits
    self.preload = preload
  }

  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.size else { return nil }
    let fields = bytes.withUnsafeBytes { bytes in
      (0..<Self.size / 8).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: Int64.self) }
    }
    guard let kind = UInt32(exactly: fields[0]), let preload = UInt32(exactly: fields[1]) else { return nil }
    self.kind = ProcessLauncher.Kind(rawValue: kind)
    self.preload = preload == 0 ? nil : ProcessLauncher.Preload(rawValue: preload)
    limits = SandboxLimits(
      memory: Int(fields[2]), maxMemory: Int(fields[3]), processorSeconds: Int(fields[4]),
      niceness: Int(fields[5]))
  }

  var bytes: [UInt8] {
    [
      Int64(kind.rawValue), Int64(preload?.rawValue ?? 0), Int64(limits.memory), Int64(limits.maxMemory),
      Int64(limits.processorSeconds), Int64(limits.niceness),
    ].flatMap { field in withUnsafeBytes(of: field) { Array($0) } }
  }
}
