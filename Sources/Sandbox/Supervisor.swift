import Glibc
import ZigguratCSandbox

/// The supervisor between a program and its fork server. It restarts a server that was killed, for example because
/// memory was short. It does nothing else, so that the system has no reason to kill it.
///
/// If the server dies, the running sandboxed processes end with it. Requests wait in the socket for the next server.
enum Supervisor {
  /// The pause in milliseconds before a killed server is restarted, which limits the rate of restarts.
  private static let pause: UInt32 = 50
  /// The maximum number of successive servers that live for less than a second. Further restarts would not help.
  private static let maximum = 20

  /// - Parameters:
  ///   - socket: the servers' end, the only descriptor that stays open.
  ///   - server: becomes the server, with the socket as descriptor 3. Its argument states whether it does the
  ///     rehearsal.
  static func run(socket: Int32, _ server: (_ isTrialPreloaded: Bool) -> Never) -> Never {
    _ = sandbox_set_name("ziggurat-parent")
    // These signals are for the parent. This process ends when the parent does. Exceeding the file size limit is a
    // write error, like a full disk.
    for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2, SIGQUIT, SIGXFSZ] {
      signal(number, SIG_IGN)
    }
    isolate(socket)
    // The sandboxed processes of a killed server become children of this one, which waits for them.
    _ = sandbox_prctl(PR_SET_CHILD_SUBREAPER, 1)
    var failures = 0
    var isTrialPreloaded = true
    while failures < maximum {
      let began = ContinuousClock.now
      let process = sandbox_fork()
      if process == 0 { server(isTrialPreloaded) }
      let status = process > 0 ? end(of: process) : -1
      // The server exits with 0 if no client is left.
      if status == 0 { _exit(0) }
      if isTrialPreloaded, status == ForkServer.hasThreads << 8 {
        isTrialPreloaded = false
        continue
      }
      failures = ContinuousClock.now - began < .seconds(1) ? failures + 1 : 0
      usleep(1000 * pause)
    }
    _exit(1)
  }

  /// Closes all descriptors except the socket, which becomes descriptor 3.
  private static func isolate(_ socket: Int32) {
    // Above the standard descriptors, which may have been closed when the program started.
    let socket = fcntl(socket, F_DUPFD_CLOEXEC, 4)
    let nothing = open("/dev/null", O_RDWR)
    for standard: Int32 in 0...2 where nothing != standard { dup2(nothing, standard) }
    dup2(socket, 3)
    _ = sandbox_close_range(4, UInt32.max)
  }

  /// Waits for the server and, meanwhile, reaps orphaned processes.
  private static func end(of server: pid_t) -> Int32 {
    var status: Int32 = 0
    while true {
      let process = waitpid(-1, &status, 0)
      if process == server { return status }
      if process < 0, errno != EINTR { return -1 }
    }
  }
}
