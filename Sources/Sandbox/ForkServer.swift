import Glibc
import ZigguratCSandbox

/// The main loop of the zygote: one thread, which forks sandboxed processes, watches their memory and reports how they
/// ended.
///
/// Descriptor 3 is the socket to the program that requests them.
struct ForkServer {
  private let work: [ProcessLauncher.Kind: WorkerMain]
  private let confinement = SandboxPolicy()
  /// Preloads that have not been requested yet.
  private var preloads: [ProcessLauncher.Preload: () -> Void]
  private var children: [Child] = []
  private var inherited = 0

  /// Milliseconds between two checks of the processes' memory.
  private static let pace: Int32 = 10

  private struct Child {
    let process: pid_t
    /// A descriptor that becomes readable when the process ends.
    let ended: Int32
    /// The status channel to the process's owner.
    let status: Int32
    /// The open file `/proc/PID/statm`.
    let memory: Int32
    /// Bytes of memory shared with this process since the fork; the kernel counts them for the child, too.
    let inherited: Int
    /// Bytes of memory that it may have besides the inherited ones.
    var allowed: Int
    /// The exceeded limit in bytes; nil if none is exceeded.
    var passed: Int?
  }

  init(work: [ProcessLauncher.Kind: WorkerMain], preloads: [ProcessLauncher.Preload: () -> Void]) {
    self.work = work
    self.preloads = preloads
  }

  /// The exit code of a zygote with more than one thread. Its forked processes could wait for the other threads
  /// forever.
  static let hasThreads: Int32 = 75

  /// Serves requests until the requesting program has ended.
  mutating func run(preload: () -> Void, trialPreload: () -> Void) -> Never {
    _ = sandbox_set_name("ziggurat-zygote")
    preload()
    trialPreload()
    if !Self.isAlone { _exit(Self.hasThreads) }
    inherited = Self.ownMemory
    while true { turn() }
  }

  private mutating func turn() {
    var waiting = [pollfd(fd: 3, events: Int16(POLLIN), revents: 0)]
    for child in children {
      waiting.append(pollfd(fd: child.ended, events: Int16(POLLIN), revents: 0))
      waiting.append(pollfd(fd: child.status, events: Int16(POLLIN), revents: 0))
    }
    guard poll(&waiting, nfds_t(waiting.count), children.isEmpty ? -1 : Self.pace) >= 0 else { return }
    // In descending order, because ended processes are removed.
    for number in children.indices.reversed() {
      if waiting[2 + 2 * number].revents != 0 { listen(to: number) }
      if waiting[1 + 2 * number].revents != 0 { bury(number) } else { weigh(number) }
    }
    if waiting[0].revents != 0 { serve() }
  }

  /// Whether this process has one thread. A thread that has just ended remains visible for a short time.
  private static var isAlone: Bool {
    for _ in 0..<100 {
      var status = stat()
      // One link for each thread, besides the two links of a directory.
      guard stat("/proc/self/task", &status) == 0, status.st_nlink > 3 else { return true }
      usleep(1000)
    }
    return false
  }

  // MARK: Running processes

  /// Handles a message from the process's owner, or the closing of its channel.
  private mutating func listen(to number: Int) {
    if let record = SpawnReply.read(from: children[number].status), record.kind == .allow {
      children[number].allowed = record.value
    } else {
      kill(children[number].process, SIGKILL)
    }
  }

  private mutating func weigh(_ number: Int) {
    guard children[number].passed == nil, let bytes = Self.memory(children[number].memory),
      bytes - children[number].inherited > children[number].allowed
    else { return }
    children[number].passed = children[number].allowed
    kill(children[number].process, SIGKILL)
  }

  /// Returns the private memory of a process in bytes (proc(5), statm: resident less shared).
  private static func memory(_ statm: Int32) -> Int? {
    var text = [UInt8](repeating: 0, count: 128)
    let count = pread(statm, &text, text.count, 0)
    guard count > 0 else { return nil }
    let fields = text.prefix(count).split(separator: UInt8(ascii: " "))
    guard fields.count > 2 else { return nil }
    func number(_ digits: ArraySlice<UInt8>) -> Int { digits.reduce(0) { $0 &* 10 &+ Int($1 &- 48) } }
    return (number(fields[1]) - number(fields[2])) * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  private static var ownMemory: Int {
    let statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    defer { close(statm) }
    return memory(statm) ?? 0
  }

  private mutating func bury(_ number: Int) {
    let child = children.remove(at: number)
    var status: Int32 = 0
    while waitpid(child.process, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7f
    let record =
      if let passed = child.passed { SpawnReply(kind: .memory, value: passed) } else if signal != 0 {
        SpawnReply(kind: .signal, value: Int(signal))
      } else if status >> 8 & 0xff == SandboxPolicy.failed {
        SpawnReply(kind: .unavailable, value: Int(EPERM))
      } else {
        SpawnReply(kind: .exit, value: Int(status >> 8 & 0xff))
      }
    Self.report(record, over: child.status)
    for descriptor in [child.ended, child.status, child.memory] { close(descriptor) }
  }

  private static func report(_ record: SpawnReply, over status: Int32) {
    let bytes = record.bytes
    _ = bytes.withUnsafeBytes { sandbox_send(status, $0.baseAddress, $0.count, nil, 0, 0) }
  }

  // MARK: Forking

  private mutating func serve() {
    var bytes = [UInt8](repeating: 0, count: SpawnRequest.size)
    var files = [Int32](repeating: -1, count: Int(SANDBOX_MOST_FILES))
    var fileCount: Int32 = 0
    let count = sandbox_receive(3, &bytes, bytes.count, &files, &fileCount)
    // No client is left: the sandboxed processes end with this one.
    if count == 0 { _exit(0) }
    files = Array(files.prefix(Int(fileCount)))
    guard count > 0, files.count >= 2 else {
      for file in files { close(file) }
      if count < 0, errno == ECONNRESET { _exit(0) }
      // For example, no descriptors or memory are left. The client sees that its end is closed.
      if count < 0, errno != EINTR { usleep(1000) }
      return
    }
    let (channel, status) = (files[0], files[1])
    defer { for file in files where file != status { close(file) } }
    guard count == SpawnRequest.size, let request = SpawnRequest(bytes), let work = work[request.kind] else {
      return fail(status, EINVAL)
    }
    if let preload = request.preload, let preload = preloads.removeValue(forKey: preload) {
      preload()
      inherited = Self.ownMemory
      guard Self.isAlone else {
        fail(status, EDEADLK)
        _exit(Self.hasThreads)
      }
    }
    var gate: [Int32] = [-1, -1]
    guard pipe(&gate) == 0 else { return fail(status, errno) }
    let own = getpid()
    let process = sandbox_fork()
    if process == 0 {
      wait(gate)
      live(channel, request.limits, Array(files.dropFirst(2)), work, childOf: own)
    }
    let forkCode = errno
    close(gate[0])
    // Closing it releases the process.
    defer { close(gate[1]) }
    guard process > 0 else { return fail(status, forkCode) }
    let ended = sandbox_pidfd_open(process)
    let memory = open("/proc/\(process)/statm", O_RDONLY | O_CLOEXEC)
    guard ended >= 0, memory >= 0 else {
      let code = errno
      kill(process, SIGKILL)
      waitpid(process, nil, 0)
      for descriptor in [ended, memory] where descriptor >= 0 { close(descriptor) }
      return fail(status, code)
    }
    children.append(
      Child(
        process: process, ended: ended, status: status, memory: memory, inherited: inherited,
        allowed: request.limits.memory))
  }

  private func fail(_ status: Int32, _ code: Int32) {
    Self.report(SpawnReply(kind: .unavailable, value: Int(code)), over: status)
    close(status)
  }

  /// Waits until the server watches this process: after confinement, no process may be able to see it (proc(5),
  /// hidepid).
  private func wait(_ gate: [Int32]) {
    close(gate[1])
    var byte: UInt8 = 0
    while read(gate[0], &byte, 1) < 0, errno == EINTR {}
  }

  /// Runs a sandboxed process.
  private func live(
    _ channel: Int32, _ limits: SandboxLimits, _ files: [Int32], _ work: @escaping WorkerMain,
    childOf server: pid_t
  ) -> Never {
    _ = sandbox_set_name("ziggurat-worker")
    _ = sandbox_prctl(PR_SET_PDEATHSIG, UInt(SIGKILL))
    if getppid() != server { _exit(0) }
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Int32(clamping: limits.niceness))
    // The system ends this process first if memory is short.
    let score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)
    if score >= 0 {
      _ = write(score, "500", 3)
      close(score)
    }
    // The signal itself reports a crash, and the owner is notified.
    for number in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGPIPE, SIGXCPU] {
      signal(number, SIG_DFL)
    }
    // Descriptors for the sandbox are moved behind the channel; all others are closed. If another descriptor to move
    // occupies a place, a free one above them all is used.
    let above = ([channel] + files).max()! + 1
    let kept = files.map { fcntl($0, F_DUPFD_CLOEXEC, max(above, 4 + Int32(files.count))) }
    dup2(channel, 3)
    let moved = kept.enumerated().map { number, file in dup2(file, 4 + Int32(number)) }
    _ = sandbox_close_range(4 + UInt32(kept.count), UInt32.max)
    if moved.contains(-1) { _exit(SandboxPolicy.failed) }
    confinement.enter(limits, reading: moved)
    SandboxMain(work).run()
  }
}
