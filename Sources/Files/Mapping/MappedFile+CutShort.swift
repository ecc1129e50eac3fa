import Glibc
import Synchronization

extension MappedFile {
  /// From now on a file that others cut short while it is mapped, as `cp` does to the one it writes over, no longer
  /// ends the process with SIGBUS: what is gone reads as zeros, which no codec takes for a tile.
  ///
  /// Not for whoever makes something lasting of what was read.
  package static func surviveCutShortFiles() {
    // Written now, all of them: what is read alone may be left out, and made by whoever uses it first. The handler
    // must not.
    pageSize = sysconf(Int32(_SC_PAGESIZE))
    told.store(0, ordering: .relaxed)
    var action = sigaction()
    action.__sigaction_handler.sa_sigaction = fillMissingPage
    action.sa_flags = SA_SIGINFO
    sigaction(SIGBUS, &action, &previous)
  }
}

// Both are written once, before there is a second thread.
nonisolated(unsafe) private var pageSize = 0
nonisolated(unsafe) private var previous = sigaction()
/// When it was last told, seconds since 1970.
private let told = Atomic<Int>(0)
private let notice: StaticString =
  "ziggurat: an archive was cut short while it was read; replace archives by renaming, not by writing over them\n"

/// Puts an empty page where the file has none any more; the read that failed is then done again.
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
      if told.exchange(now, ordering: .relaxed) != now {
        _ = write(STDERR_FILENO, notice.utf8Start, notice.utf8CodeUnitCount)
      }
      return
    }
  }
  // Any other is as deadly as before: the instruction that raised it is run again.
  sigaction(SIGBUS, &previous, nil)
}
