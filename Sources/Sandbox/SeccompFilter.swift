import Glibc
import ZigguratCSeccomp

/// The system calls that decoding needs (seccomp(2)). Calls that libraries try and can do without fail; any other call
/// ends the process.
enum SeccompFilter {
  struct Unavailable: Error {}

  /// Calls that are allowed with any arguments.
  private static let allowed = [
    "read", "write", "pread64", "pwrite64", "readv", "writev", "lseek", "close", "fstat", "newfstatat", "dup",
    "access", "faccessat", "faccessat2", "pause", "poll", "ppoll", "munmap", "mremap", "brk", "madvise",
    "futex",
    "set_robust_list", "rseq", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "sched_yield",
    "sched_getaffinity", "sched_getattr", "sched_getparam", "sched_getscheduler", "exit", "exit_group",
    "restart_syscall", "tgkill", "getpid", "gettid", "getuid", "geteuid", "getgid", "getegid",
    "clock_gettime",
    "clock_getres", "gettimeofday", "nanosleep", "clock_nanosleep", "getrandom", "sysinfo", "getrusage",
    "times",
    "uname", "getcwd", "getrlimit", "recvmsg", "readlink", "set_tid_address", "getdents64", "statfs",
    "fstatfs",
  ]

  /// Calls that fail with this error, after which a library uses another method.
  private static let refused: [(Int32, [String])] = [
    (ENOSYS, ["clone3", "statx", "membarrier", "openat2", "get_mempolicy"]),
    (ENOTTY, ["ioctl"]),
    (ENOTSOCK, ["getpeername", "getsockname"]),
    (EINVAL, ["readahead", "fadvise64"]),
    (
      EACCES,
      [
        "open", "creat", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2",
        "link",
        "linkat", "symlink", "symlinkat", "chmod", "fchmod", "fchmodat", "chown", "fchown", "fchownat",
        "lchown",
        "truncate", "readlinkat", "utimensat",
      ]
    ),
    (
      EPERM,
      [
        "memfd_create", "ftruncate", "fallocate", "flock", "mbind", "set_mempolicy", "sched_setaffinity",
        "sched_setattr", "sched_setscheduler", "sched_setparam", "setpriority", "setrlimit",
      ]
    ),
  ]

  /// CLONE_THREAD.
  private static let cloneThread: UInt64 = 0x0001_0000
  private static let allow: UInt32 = 0x7fff_0000
  private static let killProcess: UInt32 = 0x8000_0000
  private static func fail(_ code: Int32) -> UInt32 { 0x0005_0000 | UInt32(code) }

  /// Returns the filter's instructions, eight bytes each.
  static func instructions() throws(Unavailable) -> [UInt8] {
    guard let filter = seccomp_init(killProcess) else { throw Unavailable() }
    defer { seccomp_release(filter) }
    func add(_ action: UInt32, _ name: String, _ tests: [scmp_arg_cmp] = []) {
      let number = seccomp_syscall_resolve_name(name)
      // Not every processor has every call.
      guard number >= 0 else { return }
      seccomp_rule_add_array(filter, action, number, UInt32(tests.count), tests)
    }
    for name in allowed { add(allow, name) }
    for (code, names) in refused { for name in names { add(fail(code), name) } }
    // Private memory that cannot become code: shared memory would escape the memory watch.
    let isNoCode = masked(2, UInt64(PROT_EXEC), 0)
    add(allow, "mmap", [isNoCode, masked(3, UInt64(MAP_PRIVATE), UInt64(MAP_PRIVATE))])
    // A mapped file is shared; without a file, it would be memory that is not accounted for.
    add(allow, "mmap", [isNoCode, masked(3, UInt64(MAP_SHARED | MAP_ANONYMOUS), UInt64(MAP_SHARED))])
    add(fail(EPERM), "mmap", [masked(2, UInt64(PROT_EXEC), UInt64(PROT_EXEC))])
    add(allow, "mprotect", [isNoCode])
    add(fail(EPERM), "mprotect", [masked(2, UInt64(PROT_EXEC), UInt64(PROT_EXEC))])
    // Threads, and no processes.
    add(allow, "clone", [masked(0, cloneThread, cloneThread)])
    // PR_SET_NAME and PR_GET_NAME.
    for option: UInt64 in [15, 16] { add(allow, "prctl", [equal(0, option)]) }
    // Locks, since SQLite takes one on a slide that it reads.
    for command in [F_GETFL, F_GETFD, F_SETFD, F_DUPFD, F_DUPFD_CLOEXEC, F_GETLK, F_SETLK] {
      add(allow, "fcntl", [equal(1, UInt64(command))])
    }
    // Landlock restricts which files can be opened for reading. No file is opened for writing, or truncated, which
    // Landlock's first versions cannot restrict.
    let writing = [O_WRONLY, O_RDWR, O_CREAT, O_TRUNC].map { UInt64($0) }
    add(allow, "openat", [masked(2, writing.reduce(0, |), 0)])
    for flag in writing { add(fail(EACCES), "openat", [masked(2, flag, flag)]) }
    // Reading its own limits.
    add(allow, "prlimit64", [equal(2, 0)])
    return try exported(filter)
  }

  /// Returns the instructions of a filter that runs before the other one. The process may send signals to itself alone,
  /// which Landlock's first versions do not restrict.
  static func ownSignals(of process: pid_t) -> [UInt8] {
    // In seccomp_data, the call's number is at 0, and its first argument at 16. The low half of it is a process's
    // number.
    let (load, jumpIfEqual, give): (UInt16, UInt16, UInt16) = (0x20, 0x15, 0x06)
    let tgkill = seccomp_syscall_resolve_name("tgkill")
    let program: [(code: UInt16, yes: UInt8, no: UInt8, value: UInt32)] = [
      (load, 0, 0, 0), (jumpIfEqual, 0, 3, UInt32(bitPattern: tgkill)),
      (load, 0, 0, 16), (jumpIfEqual, 1, 0, UInt32(process)),
      (give, 0, 0, fail(EPERM)), (give, 0, 0, allow),
    ]
    return program.flatMap { step in
      withUnsafeBytes(of: step.code) { Array($0) } + [step.yes, step.no]
        + withUnsafeBytes(of: step.value) { Array($0) }
    }
  }

  private static func exported(_ filter: scmp_filter_ctx) throws(Unavailable) -> [UInt8] {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Unavailable() }
    defer { close(ends[0]) }
    // It has some 2 kB, less than a pipe's capacity.
    let code = seccomp_export_bpf(filter, ends[1])
    close(ends[1])
    guard code == 0 else { throw Unavailable() }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    var count = 0
    while count < bytes.count {
      let part = bytes.withUnsafeMutableBytes { read(ends[0], $0.baseAddress! + count, $0.count - count) }
      if part < 0, errno == EINTR { continue }
      if part <= 0 { break }
      count += part
    }
    guard count > 0, count % 8 == 0 else { throw Unavailable() }
    return Array(bytes.prefix(count))
  }

  private static func equal(_ argument: UInt32, _ value: UInt64) -> scmp_arg_cmp {
    scmp_arg_cmp(arg: argument, op: SCMP_CMP_EQ, datum_a: value, datum_b: 0)
  }

  /// Returns a comparison of the argument's bits under the mask.
  private static func masked(_ argument: UInt32, _ mask: UInt64, _ value: UInt64) -> scmp_arg_cmp {
    scmp_arg_cmp(arg: argument, op: SCMP_CMP_MASKED_EQ, datum_a: mask, datum_b: value)
  }
}
