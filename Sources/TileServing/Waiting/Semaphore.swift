import Glibc

/// Counts wake-ups of threads.
// Sendable: sem_t is made for threads; it is allocated once and stays where it is.
final class Semaphore: @unchecked Sendable {
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() { sem_init(semaphore, 0, 0) }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  func signal() { sem_post(semaphore) }

  /// - Parameter seconds: at most so long; nil for ever.
  func wait(upTo seconds: Double? = nil) {
    guard let seconds else {
      while sem_wait(semaphore) != 0, errno == EINTR {}
      return
    }
    var end = timespec()
    clock_gettime(CLOCK_REALTIME, &end)
    let nanoseconds = end.tv_nsec + Int(seconds * 1e9)
    end.tv_sec += nanoseconds / 1_000_000_000
    end.tv_nsec = nanoseconds % 1_000_000_000
    while sem_timedwait(semaphore, &end) != 0, errno == EINTR {}
  }
}
