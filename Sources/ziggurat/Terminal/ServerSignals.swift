import Glibc

/// The signals that ask a server to end (SIGTERM, SIGINT; see `HTTPServer.shutdownGracefully`), or to reload what it can
/// without ending (SIGHUP).
///
/// By convention SIGHUP means either. Without a terminal, it requests the renewal. After a terminal was closed, it ends
/// the server, which would otherwise continue unseen. If it is ignored, as under `nohup`, it stays ignored.
struct ServerSignals {
  enum Message {
    case end
    case renew
  }

  private var signals = sigset_t()
  private let hasTerminal = isatty(STDIN_FILENO) == 1

  /// Blocks the signals in all threads that start from now on.
  init() {
    sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM] { sigaddset(&signals, signal) }
    if !Self.isIgnored(SIGHUP) { sigaddset(&signals, SIGHUP) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  func wait() -> Message {
    var (signals, signal) = (self.signals, Int32(0))
    sigwait(&signals, &signal)
    return message(signal)
  }

  /// Waits for a signal; nil if none arrives within so many milliseconds, less than a second.
  func wait(milliseconds: Int) -> Message? {
    var signals = signals
    var time = timespec(tv_sec: 0, tv_nsec: milliseconds * 1_000_000)
    let signal = sigtimedwait(&signals, nil, &time)
    return signal > 0 ? message(signal) : nil
  }

  private func message(_ signal: Int32) -> Message {
    signal == SIGHUP && !hasTerminal ? .renew : .end
  }

  /// Lets another signal end the process while the first one is still being handled.
  func release() {
    var signals = signals
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    sigaction(signal, nil, &action)
    // SIG_IGN, a cast that is not imported.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }
}
