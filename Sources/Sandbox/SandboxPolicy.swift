import Glibc
import ZigguratCSandbox
import ZigguratCSeccomp

/// The restriction of a process to processor time, memory and its open descriptors.
struct SandboxPolicy {
  /// The filter in the kernel's format, created once; nil if libseccomp or the kernel does not support it.
  private let filter: [UInt8]?
  private let landlock: Int32

  init() {
    landlock = sandbox_landlock_version()
    filter = Self.hasFilters ? try? SeccompFilter.instructions() : nil
  }

  /// The missing kernel features, as a text for an administrator; nil if nothing is missing.
  static var lack: String? {
    switch (sandbox_landlock_version() > 0, hasFilters) {
    case (true, true): return nil
    case (false, true): return "Landlock is missing: what decodes pictures could read files"
    case (true, false): return "seccomp is missing: what decodes pictures could make any system call"
    case (false, false):
      return "Landlock and seccomp are missing: what decodes pictures is limited in memory and time alone"
    }
  }

  /// Whether the kernel has seccomp filters. Given no filter, such a kernel reports only the invalid address.
  private static var hasFilters: Bool { sandbox_prctl(PR_SET_SECCOMP, 2) == 0 || errno == EFAULT }

  /// The exit code of a process that could not be confined as far as the kernel can.
  static let failed: Int32 = 78

  /// Confines the calling process for ever. Ends it if that fails although the kernel supports it.
  ///
  /// - Parameter files: open files and folders whose content the process may read by name.
  func enter(_ limits: SandboxLimits, reading files: [Int32]) {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    // The memory watch acts on used memory, at the limit. This limit acts on requested memory, for which the watch
    // would be too late. It is much higher, because a library that is refused memory ends as if it had crashed.
    let data = rlim_t(clamping: limits.maxMemory) * 4 + (1 << 30)
    limit = rlimit(rlim_cur: data, rlim_max: data)
    setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)
    let seconds = rlim_t(clamping: limits.processorSeconds)
    limit = rlimit(rlim_cur: seconds, rlim_max: seconds + 5)
    setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit)
    mallopt(M_ARENA_MAX, 4)
    _ = sandbox_prctl(PR_SET_DUMPABLE, 0)
    Self.require(sandbox_prctl(PR_SET_NO_NEW_PRIVS, 1) == 0)
    restrictFiles(files)
    for file in files { close(file) }
    guard Self.hasFilters else { return }
    Self.require(filter != nil)
    for filter in [SeccompFilter.ownSignals(of: getpid()), filter!] {
      filter.withUnsafeBytes { bytes in
        Self.require(sandbox_install_filter(bytes.baseAddress, UInt16(bytes.count / 8)) == 0)
      }
    }
  }

  private static func require(_ isDone: Bool) { if !isDone { _exit(failed) } }

  // MARK: Landlock

  private static let execute: UInt64 = 1 << 0
  private static let readFile: UInt64 = 1 << 2
  private static let readFolder: UInt64 = 1 << 3

  private func restrictFiles(_ files: [Int32]) {
    guard landlock > 0 else { return }
    // Each version of the interface adds rights: refer, truncate, network, ioctl, scopes.
    let rights: UInt64 =
      switch landlock {
      case 1: (1 << 13) - 1
      case 2: (1 << 14) - 1
      case 3, 4: (1 << 15) - 1
      default: (1 << 16) - 1
      }
    var rules = sandbox_ruleset(
      file_system: rights, network: landlock >= 4 ? 3 : 0, scopes: landlock >= 6 ? 3 : 0)
    let size = landlock >= 6 ? 24 : landlock >= 4 ? 16 : 8
    let ruleset = sandbox_landlock_ruleset(&rules, size)
    Self.require(ruleset >= 0)
    for file in files {
      var status = stat()
      guard fstat(file, &status) == 0 else { continue }
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      _ = sandbox_landlock_allow(ruleset, file, isFolder ? Self.readFile | Self.readFolder : Self.readFile)
    }
    Self.require(sandbox_landlock_restrict(ruleset) == 0)
    close(ruleset)
  }
}
