import Glibc
import Synchronization

extension MappedFile {
  /// Makes the process survive truncation of mapped files, as by `cp` over an existing file. Instead of ending the
  /// process with SIGBUS, missing pages read as zeros, which no codec accepts as a tile.
  ///
  /// Not for processes that store results of the reads.
  package static func surviveCutShortFiles() {
    // Everything that the handler uses is initialized here: lazy initialization could otherwise run inside the handler,
    // which is not allowed.
    pageSize = sysconf(Int32(_SC_PAGESIZE))
    reported.store(0, ordering: .relaxed)
    var action = sigaction()
    action.__sigaction_handler.sa_sigaction = fillMissingPage
    action.sa_flags = SA_SIGINFO
    sigaction(SIGBUS, &action, &previous)
  }
}

// Both are written once, before a second thread starts.
nonisolated(unsafe) private var pageSize = 0
nonisolated(unsafe) private var previous = sigaction()
/// The time of the last message, in seconds since 1970.
private let reported = Atomic<Int>(0)
private let notice: StaticString =
  "ziggurat: an archive was cut short while it was read; replace archives by renaming, not by writing over them\n"

/// Maps an empty page where the file has none any more. The failed read is then repeated.
private func fillMissingPage(
  _ signal: Int32, _ information: UnsafeMutablePointer<siginfo_t>?, _: UnsafeMutableRawPointer?
) {
  let saved = errno
  defer { errno = saved }
  let beyondTheEnd: Int32 = 2  // BUS_ADRERR
  if let information, information.pointee.si_code == beyondTheEnd,
    let address = information.pointee._sifields._sigfault.si_addr
  {
    let start = UInt(bitPattern: address) & ~UInt(pageSize - 1)
    let page = mmap(
      UnsafeMutableRawPointer(bitPattern: start), pageSize, PROT_READ,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
    if page != MAP_FAILED {
      // A whole archive has many pages.
      let now = time(nil)
      if reported.exchange(now, ordering: .relaxed) != now {
        _ = write(STDERR_FILENO, notice.utf8Start, notice.utf8CodeUnitCount)
      }
      return
    }
  }
  // Any other cause is as fatal as before: the failed instruction is repeated.
  sigaction(SIGBUS, &previous, nil)
}
