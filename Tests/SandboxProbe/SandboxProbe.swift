import Glibc
import ZigguratCSandbox
import ZigguratSandbox

/// A program that tries operations that decoding never needs, inside and outside the sandbox. It prints a line for each:
/// the name, the result outside, the result inside. It also prints how sandboxed processes end, and what they leave.
/// It is a separate program because sandboxed processes are forked from a process of one thread.
/// `SandboxedProcessTests` reads its output.
@main enum SandboxProbe {
  /// An operation; `run` returns 0 if it worked, else the error number.
  struct Attempt {
    let name: String
    let run: @Sendable () -> Int32
  }

  static let attempts: [Attempt] = [
    Attempt(name: "open /etc/passwd") { result(of: open("/etc/passwd", O_RDONLY)) },
    Attempt(name: "list /") { result(of: open("/", O_RDONLY | O_DIRECTORY)) },
    Attempt(name: "write outside") {
      result(of: open("/tmp/ziggurat-probe-\(getppid())", O_WRONLY | O_CREAT, 0o600))
    },
    Attempt(name: "remove") {
      unlink("/tmp/ziggurat-probe-removed-\(getpid())") == 0 || errno == ENOENT ? 0 : errno
    },
    Attempt(name: "socket") { result(of: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)) },
    Attempt(name: "unix socket") { result(of: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)) },
    Attempt(name: "fork") {
      let child = sandbox_fork()
      if child == 0 { _exit(0) }
      if child > 0 { waitpid(child, nil, 0) }
      return child < 0 ? errno : 0
    },
    Attempt(name: "ptrace") { result(of: Int32(sandbox_call(Int(SYS_ptrace), 0, 0, 0))) },
    Attempt(name: "execve") {
      var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/true"), nil]
      // Outside it would replace this program: a name that does not exist shows as much.
      execv("/nothing/there", &arguments)
      return errno == ENOENT ? 0 : errno
    },
    Attempt(name: "kill its parent") { kill(getppid(), 0) == 0 ? 0 : errno },
    Attempt(name: "signal a thread of its parent") {
      result(of: Int32(sandbox_call(Int(SYS_tgkill), Int(getppid()), Int(getppid()), 0)))
    },
    Attempt(name: "memory that is code") {
      let page = mmap(nil, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      return page == MAP_FAILED ? errno : 0
    },
    Attempt(name: "shared memory") {
      let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
      return page == MAP_FAILED ? errno : 0
    },
    Attempt(name: "memfd_create") {
      // Outside it complains of the missing name.
      let code = result(of: Int32(sandbox_call(Int(SYS_memfd_create), 0, 0, 0)))
      return code == EFAULT ? 0 : code
    },
    Attempt(name: "io_uring_setup") {
      // Outside it complains of its arguments, if the kernel has it.
      let code = result(of: Int32(sandbox_call(Int(SYS_io_uring_setup), 0, 0, 0)))
      return code == EINVAL || code == EFAULT || code == ENOSYS || code == EPERM ? 0 : code
    },
    Attempt(name: "raise its limits") {
      // Up to what anybody may have.
      let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      var limit = rlimit()
      getrlimit(files, &limit)
      limit.rlim_cur = limit.rlim_max
      return setrlimit(files, &limit) == 0 ? 0 : errno
    },
  ]

  static func result(of code: Int32) -> Int32 { code < 0 ? errno : 0 }

  // Ways in which a sandboxed process can end, and operations that it is asked to try.
  static let (crash, hog, spin, sleep, exit, read, files) =
    (kind(101), kind(102), kind(103), kind(104), kind(105), kind(106), kind(107))
  static let (empty, trickle, hideAway, linger) = (kind(108), kind(109), kind(110), kind(111))
  static func kind(_ number: UInt32) -> ProcessLauncher.Kind { ProcessLauncher.Kind(rawValue: number) }

  static func main() {
    var work: [ProcessLauncher.Kind: WorkerMain] = [:]
    for (number, attempt) in attempts.enumerated() {
      work[kind(UInt32(number + 1))] = { session in session.send(UInt32(attempt.run())) }
    }
    work[crash] = { _ in raise(SIGSEGV) }
    work[hog] = { _ in
      var kept: [UnsafeMutableRawPointer] = []
      while true {
        let part = malloc(1 << 20)!
        memset(part, 1, 1 << 20)
        kept.append(part)
      }
    }
    work[spin] = { _ in while true {} }
    work[sleep] = { session in _ = session.next() }
    work[exit] = { _ in _exit(3) }
    work[read] = { session in
      let path = String(decoding: session.next().bytes, as: UTF8.self)
      var byte: UInt8 = 0
      let file = open(path, O_RDONLY)
      session.send(file >= 0 && Glibc.read(file, &byte, 1) == 1 ? UInt32(byte) : 1000 + UInt32(errno))
    }
    work[empty] = { session in
      let path = String(decoding: session.next().bytes, as: UTF8.self)
      session.send(open(path, O_RDONLY | O_TRUNC) >= 0 ? 0 : 1000 + UInt32(errno))
    }
    work[trickle] = { _ in
      let head: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1]
      for byte in head + [UInt8](repeating: 0, count: 10_000) {
        _ = withUnsafeBytes(of: byte) { write(3, $0.baseAddress, 1) }
        usleep(5000)
      }
    }
    work[hideAway] = { _ in
      close(3)
      while true { pause() }
    }
    work[linger] = { _ in
      close(3)
      usleep(2_500_000)
      _exit(3)
    }
    work[files] = { session in
      // Standard streams and its channel: whatever else is open would be somebody's.
      session.send(UInt32((0..<256).filter { fcntl($0, F_GETFD) >= 0 }.count))
    }
    try! ProcessLauncher.start(work, preload: {})
    let server = ProcessLauncher.running!
    for (number, attempt) in attempts.enumerated() {
      print("\(attempt.name): \(text(attempt.run())), \(answer(server, kind(UInt32(number + 1))))")
    }
    unlink("/tmp/ziggurat-probe-\(getppid())")
    print("crash: \(answer(server, crash))")
    print("hog: \(answer(server, hog))")
    print("spin: \(answer(server, spin, seconds: 1))")
    print("exit: \(answer(server, exit))")
    print("a byte at a time: \(answer(server, trickle, seconds: 1))")
    print("deaf: \(answer(server, spin, seconds: 1, asking: [UInt8](repeating: 0, count: 4 << 20)))")
    print("hidden: \(answer(server, hideAway, seconds: 2))")
    print("late: \(answer(server, linger))")
    print("files: \(answer(server, files))")
    print("given file: \(reading(server, "/etc/hostname", given: ["/etc/hostname"]))")
    print("other file: \(reading(server, "/etc/passwd", given: ["/etc/hostname"]))")
    print("emptying a given file: \(emptying(server))")
    print(
      "in a given folder: \(reading(server, "/usr/share/common-licenses/GPL-3", given: ["/usr/share/common-licenses"]))"
    )
    // A hundred at once, which are ended without a message: none remains.
    let many = (0..<100).map { _ in try! server.begin(sleep, limits) }
    for process in many { process.end() }
    print("after a hundred: \(answer(server, exit))")
    print("unknown kind: \(answer(server, kind(999)))")
  }

  static let limits = SandboxLimits(memory: 64 << 20, maxMemory: 64 << 20, processorSeconds: 20)

  static func text(_ code: Int32) -> String { code == 0 ? "done" : "error \(code)" }

  static func answer(
    _ server: ProcessLauncher, _ kind: ProcessLauncher.Kind, seconds: Int = 60, asking question: [UInt8] = []
  ) -> String {
    do throws(TerminationReason) {
      let process = try server.begin(kind, limits)
      let timeout = SandboxedProcess.Timeout(seconds: seconds)
      if !question.isEmpty { try process.send(1, question, within: timeout) }
      return text(Int32(try process.receive(longest: { _ in 1 << 30 }, within: timeout).kind))
    } catch { return "\(error)" }
  }

  static func reading(
    _ server: ProcessLauncher, _ path: String, given: [String], by kind: ProcessLauncher.Kind = read
  ) -> String {
    let files = given.map { open($0, O_RDONLY) }
    defer { for file in files { close(file) } }
    let timeout = SandboxedProcess.Timeout(seconds: 60)
    do throws(TerminationReason) {
      let process = try server.begin(kind, limits, reading: files)
      try process.send(1, Array(path.utf8), within: timeout)
      let code = try process.receive(longest: { _ in 0 }, within: timeout).kind
      return code < 1000 ? "read" : "error \(code - 1000)"
    } catch { return "\(error)" }
  }

  /// Returns the result of truncating a file that the process was given for reading, and the file's size afterwards.
  static func emptying(_ server: ProcessLauncher) -> String {
    let path = "/tmp/ziggurat-probe-kept-\(getpid())"
    let file = open(path, O_RDWR | O_CREAT, 0o600)
    _ = write(file, "kept", 4)
    defer {
      close(file)
      unlink(path)
    }
    let result = reading(server, path, given: [path], by: empty)
    var status = stat()
    return "\(result), \(fstat(file, &status) == 0 ? status.st_size : -1) bytes"
  }
}
