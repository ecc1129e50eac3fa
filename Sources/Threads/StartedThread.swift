import Glibc

/// A thread that was started: the one place where threads begin.
package struct StartedThread {
  private final class Work: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private let thread: pthread_t

  /// Nil where the system gives no thread; `work` is not done then.
  /// - Parameter stackBytes: of its stack; the system's own choice (8 MB) where nil.
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

  /// Has a thread that nobody waits for do the work.
  /// - Parameter stackBytes: of its stack; the system's own choice (8 MB) where nil.
  /// - Returns: false where the system gives no thread; `work` is not done then.
  package static func detached(stackBytes: Int? = nil, _ work: @escaping @Sendable () -> Void) -> Bool {
    guard let started = StartedThread(stackBytes: stackBytes, work) else { return false }
    pthread_detach(started.thread)
    return true
  }

  /// The same, of what the program cannot do without: where the system gives no thread it says so and ends with
  /// sysexits' "try again later".
  package static func needed(_ work: @escaping @Sendable () -> Void) {
    guard !detached(work) else { return }
    let words = "ziggurat: the system gives no thread\n"
    _ = write(STDERR_FILENO, words, words.utf8.count)
    exit(EX_TEMPFAIL)
  }

  /// Runs `body` on `count` threads, the caller's being the first, and returns when all have.
  ///
  /// Where the system gives fewer threads, fewer do the same work.
  /// - Parameter body: gets the thread's number, counted from 0.
  package static func several(_ count: Int, _ body: @escaping @Sendable (_ number: Int) -> Void) {
    var others: [StartedThread] = []
    for number in 1..<max(count, 1) {
      if let other = StartedThread(stackBytes: nil, { body(number) }) { others.append(other) }
    }
    body(0)
    for other in others { pthread_join(other.thread, nil) }
  }
}
