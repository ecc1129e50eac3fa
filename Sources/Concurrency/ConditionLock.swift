package import Glibc

/// A lock with a condition variable, which `Synchronization.Mutex` does not have.
package final class ConditionLock: @unchecked Sendable {
  // Sendable: a pthread mutex and condition are made to be shared; both stay where they were allocated.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init() {
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // A change of the system's time does not prolong a wait.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(condition)
    mutex.deallocate()
    condition.deallocate()
  }

  package func lock() { pthread_mutex_lock(mutex) }
  package func unlock() { pthread_mutex_unlock(mutex) }
  package func withLock<Value>(_ body: () throws -> Value) rethrows -> Value {
    lock()
    defer { unlock() }
    return try body()
  }
  /// Releases the lock until `wakeAll`, then takes it again; may also return spuriously.
  package func wait() { pthread_cond_wait(condition, mutex) }
  /// Waits like `wait()`, until the deadline at the latest.
  /// - Parameter deadline: a time of the clock `CLOCK_MONOTONIC`.
  /// - Returns: false if the deadline has passed.
  package func wait(until deadline: timespec) -> Bool {
    var deadline = deadline
    return pthread_cond_timedwait(condition, mutex, &deadline) == 0
  }
  /// Returns the time after so many seconds, of the clock `CLOCK_MONOTONIC`.
  package static func time(after seconds: Double) -> timespec {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let nanoseconds = time.tv_nsec + Int(seconds * 1e9)
    time.tv_sec += nanoseconds / 1_000_000_000
    time.tv_nsec = nanoseconds % 1_000_000_000
    return time
  }

  /// Wakes one waiting thread, if all wait for the same condition.
  package func wakeOne() { pthread_cond_signal(condition) }
  package func wakeAll() { pthread_cond_broadcast(condition) }
}
