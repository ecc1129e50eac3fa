import CCell
import CSeccomp
import Glibc

/// Takes from a process everything but processor time, memory and the descriptors that it holds.
struct CellConfinement {
  /// The filter as the kernel takes it, made once; nil where libseccomp or the kernel has none.
  private let filter: [UInt8]?
  private let landlock: Int32

  init() {
    landlock = cell_landlock_version()
    filter = try? CellFilter.instructions(hasLandlock: landlock > 0)
  }

  /// What the kernel does not offer, in words for an administrator; nil where all is there.
  static var lack: String? {
    let hasLandlock = cell_landlock_version() > 0
    // Asked for with no filter, a kernel that knows the mode complains of the address alone.
    let hasFilter = cell_prctl(PR_SET_SECCOMP, 2) == 0 || errno == EFAULT
    switch (hasLandlock, hasFilter) {
    case (true, true): return nil
    case (false, true): return "Landlock is missing: what decodes pictures could read files"
    case (true, false): return "seccomp is missing: what decodes pictures could make any system call"
    case (false, false):
      return "Landlock and seccomp are missing: what decodes pictures is limited in memory and time alone"
    }
  }

  /// Confines the calling process, for ever.
  ///
  /// - Parameter files: open files and folders of which it may read the content, by name.
  func enter(_ limits: CellLimits, reading files: [Int32]) {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    // The watch over its memory acts at the limit, on what is used; this one on what is asked for, where the watch
    // would come too late. Far above, since a library that is refused memory ends as if it had crashed.
    let data = rlim_t(clamping: limits.mostMemory) * 4 + (1 << 30)
    limit = rlimit(rlim_cur: data, rlim_max: data)
    setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)
    let seconds = rlim_t(clamping: limits.processorSeconds)
    limit = rlimit(rlim_cur: seconds, rlim_max: seconds + 5)
    setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit)
    mallopt(M_ARENA_MAX, 4)
    _ = cell_prctl(PR_SET_DUMPABLE, 0)
    _ = cell_prctl(PR_SET_NO_NEW_PRIVS, 1)
    restrictFiles(files)
    for file in files { close(file) }
    filter?.withUnsafeBytes { bytes in
      _ = cell_install_filter(bytes.baseAddress, UInt16(bytes.count / 8))
    }
  }

  // MARK: Landlock

  private static let execute: UInt64 = 1 << 0
  private static let readFile: UInt64 = 1 << 2
  private static let readFolder: UInt64 = 1 << 3

  private func restrictFiles(_ files: [Int32]) {
    guard landlock > 0 else { return }
    // Each version of the interface knows more: refer, truncate, network, ioctl, scopes.
    let rights: UInt64 =
      switch landlock {
      case 1: (1 << 13) - 1
      case 2: (1 << 14) - 1
      case 3, 4: (1 << 15) - 1
      default: (1 << 16) - 1
      }
    var rules = cell_ruleset(
      file_system: rights, network: landlock >= 4 ? 3 : 0, scopes: landlock >= 6 ? 3 : 0)
    let size = landlock >= 6 ? 24 : landlock >= 4 ? 16 : 8
    let ruleset = cell_landlock_ruleset(&rules, size)
    guard ruleset >= 0 else { return }
    for file in files {
      var status = stat()
      guard fstat(file, &status) == 0 else { continue }
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      _ = cell_landlock_allow(ruleset, file, isFolder ? Self.readFile | Self.readFolder : Self.readFile)
    }
    _ = cell_landlock_restrict(ruleset)
    close(ruleset)
  }
}
