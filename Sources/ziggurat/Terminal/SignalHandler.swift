import Glibc
import Synchronization

/// The user's request to stop. The first Ctrl-C, SIGTERM or SIGHUP lets the program clean up unfinished work; a second
/// identical signal ends the process at once.
enum SignalHandler {
  private static let asked = Atomic<Bool>(false)

  static var isAsked: Bool { asked.load(ordering: .relaxed) }

  /// Requests a stop without a signal.
  static func ask() { asked.store(true, ordering: .relaxed) }

  static func listen() {
    // Initialized now by a write: the handler must not be the first to use it.
    asked.logicalOr(false, ordering: .relaxed)
    // The parent process may have blocked them, as every dispatch thread does; a mask is inherited.
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP] where !ServerSignals.isIgnored(number) {
      sigaddset(&signals, number)
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { _ in SignalHandler.asked.store(true, ordering: .relaxed) }
      action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
      sigaction(number, &action, nil)
    }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  /// Waits until input is available; false if the user has asked to stop.
  static func waitForInput(_ descriptor: Int32) -> Bool {
    // Blocked except while `pselect` waits: otherwise, a signal just before it would not end the wait.
    var signals = sigset_t()
    var before = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
    pthread_sigmask(SIG_BLOCK, &signals, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    precondition(descriptor < 64, "a terminal is opened early")
    while !isAsked {
      var readable = fd_set()
      readable.__fds_bits.0 = 1 << Int(descriptor)
      if pselect(descriptor + 1, &readable, nil, nil, nil, &before) >= 0 || errno != EINTR { return true }
    }
    return false
  }
}
