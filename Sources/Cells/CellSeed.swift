import Glibc
import ZigguratCCell

/// The process between a program and its server of cells: it begins that one anew where it was killed, as the system
/// does where memory is short. It does nothing else, so that nobody has a reason to kill it.
///
/// What the server's death costs are the cells at work, which end with it; requests wait in the socket for the next.
enum CellSeed {
  /// Milliseconds before a server that was killed has a successor: whatever kills them has no more than that.
  private static let pause: UInt32 = 50
  /// So many in a row that lived for less than a second: no other one would live longer.
  private static let most = 20

  /// - Parameters:
  ///   - socket: the servers' end, all that stays open.
  ///   - server: becomes the server of cells, with the socket as descriptor 3; told whether it rehearses.
  static func run(socket: Int32, _ server: (_ isRehearsed: Bool) -> Never) -> Never {
    _ = cell_set_name("ziggurat-seed")
    // Those are for the process that started this one, which ends this one by going away.
    // A file that may not grow any more is an error for who writes it, as a full disk is.
    for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2, SIGQUIT, SIGXFSZ] {
      signal(number, SIG_IGN)
    }
    isolate(socket)
    // The cells of a server that was killed become children of this one, which waits for them.
    _ = cell_prctl(PR_SET_CHILD_SUBREAPER, 1)
    var failures = 0
    var isRehearsed = true
    while failures < most {
      let began = ContinuousClock.now
      let process = cell_fork()
      if process == 0 { server(isRehearsed) }
      let status = process > 0 ? end(of: process) : -1
      // It ends by itself where nobody is left who could ask.
      if status == 0 { _exit(0) }
      if isRehearsed, status == CellNursery.hasThreads << 8 {
        isRehearsed = false
        continue
      }
      failures = ContinuousClock.now - began < .seconds(1) ? failures + 1 : 0
      usleep(1000 * pause)
    }
    _exit(1)
  }

  /// Keeps nothing that was open but the socket, as descriptor 3.
  private static func isolate(_ socket: Int32) {
    // Above the standard ones, which may have been closed when the program began.
    let socket = fcntl(socket, F_DUPFD_CLOEXEC, 4)
    let nothing = open("/dev/null", O_RDWR)
    for standard: Int32 in 0...2 where nothing != standard { dup2(nothing, standard) }
    dup2(socket, 3)
    _ = cell_close_range(4, UInt32.max)
  }

  /// Waits for the server, and on the way for what others left.
  private static func end(of server: pid_t) -> Int32 {
    var status: Int32 = 0
    while true {
      let process = waitpid(-1, &status, 0)
      if process == server { return status }
      if process < 0, errno != EINTR { return -1 }
    }
  }
}
