import Glibc

/// A thread that was started: the one place where threads are created.
package struct StartedThread {
  private final class Work: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private let thread: pthread_t

  /// Starts a thread; nil if the system refuses one, and `work` is not run then.
  /// - Parameter stackBytes: the size of its stack; nil for the system's default (8 MB).
  private init?(stackBytes: Int?, _ work: @escaping @Sendable () -> Void) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    if let stackBytes { pthread_attr_setstacksize(&attributes, stackBytes) }
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(Work(work))
    let code = pthread_create(
      &thread, &attributes,
      { argument in
        Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().run()
        return nil
      }, argument.toOpaque())
    guard code == 0 else {
      argument.release()
      return nil
    }
    self.thread = thread
  }

  /// Runs the work on a detached thread.
  ///
  /// - Parameter stackBytes: the size of its stack; nil for the system's default (8 MB).
  /// - Returns: false if the system cannot create a thread; `work` is not run then.
  package static func detached(stackBytes: Int? = nil, _ work: @escaping @Sendable () -> Void) -> Bool {
    guard let started = StartedThread(stackBytes: stackBytes, work) else { return false }
    pthread_detach(started.thread)
    return true
  }

  /// Runs necessary work on a thread. If the system refuses a thread, the program reports it and exits with sysexits'
  /// "try again later".
  package static func needed(_ work: @escaping @Sendable () -> Void) {
    guard !detached(work) else { return }
    let message = "ziggurat: the system gives no thread\n"
    _ = write(STDERR_FILENO, message, message.utf8.count)
    exit(EX_TEMPFAIL)
  }

  /// Runs `body` on `count` threads, including the caller's as the first, and returns when all have ended.
  ///
  /// If the system grants fewer threads, fewer do the same work.
  /// - Parameter body: called with the thread's number, counted from 0.
  package static func several(_ count: Int, _ body: @escaping @Sendable (_ number: Int) -> Void) {
    var others: [StartedThread] = []
    for number in 1..<max(count, 1) {
      if let other = StartedThread(stackBytes: nil, { body(number) }) { others.append(other) }
    }
    body(0)
    for other in others { pthread_join(other.thread, nil) }
  }
}
