import Foundation
import Glibc
import Synchronization
import Testing
import ZigguratFiles
import ZigguratTestSupport

@Suite struct DirectoryLockTests {
  @Test func `a held lock is an error without waiting, unless both locks are shared`() throws {
    let folder = try TemporaryFolder()
    do {
      let held = try DirectoryLock(folder.path, isShared: true)
      _ = try DirectoryLock(folder.path, isShared: true, waits: false)
      #expect(throws: StorageError.self) { try DirectoryLock(folder.path, waits: false) }
      withExtendedLifetime(held) {}
    }
    _ = try DirectoryLock(folder.path, waits: false)
  }

  /// A descriptor that is closed twice is another thread's the second time.
  @Test func `a rejected lock closes no descriptor of another thread`() throws {
    let folder = try TemporaryFolder()
    let held = try DirectoryLock(folder.path)
    let isDone = Atomic<Bool>(false)
    let lost = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 3) { number in
      if number == 0 {
        for _ in 0..<20_000 { _ = try? DirectoryLock(folder.path, waits: false) }
        isDone.store(true, ordering: .relaxed)
      } else {
        while !isDone.load(ordering: .relaxed) {
          let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
          sched_yield()
          if close(descriptor) != 0 { lost.withLock { $0 += 1 } }
        }
      }
    }
    withExtendedLifetime(held) {}
    #expect(lost.withLock { $0 } == 0)
  }
}
