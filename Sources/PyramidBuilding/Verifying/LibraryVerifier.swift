import Synchronization
import ZigguratConcurrency
package import ZigguratFiles

/// Verifies many archives on several threads.
package enum LibraryVerifier {
  /// Calls `report` with every defect, never concurrently. Returns the number of defects, except those of sources.
  ///
  /// - Parameter enclosure: the library, which links must not lead out of; nil if there is none.
  package static func verify(
    _ archives: [String], within enclosure: RootDirectory?, jobs: Int,
    report: @escaping @Sendable (ArchiveVerifier.Defect) -> Void
  ) -> Int {
    verify(
      archives, jobs: jobs, defects: { ArchiveVerifier.defects(ofArchive: $0, within: enclosure) },
      report: report)
  }

  /// Verifies archives that `defects` opens by their names.
  package static func verify<Name: Sendable>(
    _ archives: [Name], jobs: Int, defects: @escaping @Sendable (Name) -> [ArchiveVerifier.Defect],
    report: @escaping @Sendable (ArchiveVerifier.Defect) -> Void
  ) -> Int {
    let box = Shared()
    StartedThread.several(jobs) { _ in
      while true {
        let number = box.next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard number < archives.count else { return }
        let defects = defects(archives[number])
        box.count.withLock { count in
          for defect in defects { report(defect) }
          count += defects.count { !$0.isOfSource }
        }
      }
    }
    return box.count.withLock { $0 }
  }

  /// The counters that the threads share.
  private final class Shared: Sendable {
    let next = Atomic<Int>(0)
    let count = Mutex<Int>(0)
  }
}
