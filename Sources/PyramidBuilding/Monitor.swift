import Glibc

/// A lock with a condition to wait for. `Synchronization.Mutex` has no condition variable.
final class Monitor: @unchecked Sendable {
  // Sendable: a pthread mutex and condition are made to be shared; both stay where they were allocated.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(condition)
    mutex.deallocate()
    condition.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }
  /// Lets go of the lock until `wakeAll`, then takes it again.
  func wait() { pthread_cond_wait(condition, mutex) }
  func wakeAll() { pthread_cond_broadcast(condition) }
}

/// Runs `body` on `count` threads, the caller's being the first, and returns when all have.
func withThreads(_ count: Int, _ body: @escaping @Sendable (_ number: Int) -> Void) {
  final class Start {
    let number: Int
    let body: @Sendable (Int) -> Void
    init(_ number: Int, _ body: @escaping @Sendable (Int) -> Void) {
      (self.number, self.body) = (number, body)
    }
  }
  var threads: [pthread_t] = []
  for number in 1..<max(count, 1) {
    var thread = pthread_t()
    let start = Unmanaged.passRetained(Start(number, body))
    let code = pthread_create(
      &thread, nil,
      { argument in
        let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
        start.body(start.number)
        return nil
      }, start.toOpaque())
    // Fewer threads do the same work, only slower.
    if code == 0 { threads.append(thread) } else { start.release() }
  }
  body(0)
  for thread in threads { pthread_join(thread, nil) }
}
