import Synchronization
import Testing
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import PyramidBuilding

@Suite struct SourceCopiesTests {
  private struct Counts {
    var made: [ImageID: Int] = [:]
    /// Made, or being made, and not taken.
    var waiting = 0
    var most = 0
  }

  @Test func `each source is copied once, and few are copied ahead`() {
    let seed = SplitMix.runSeed
    var random = SplitMix(seed)
    for _ in 0..<200 {
      let (threads, count) = (1 + random.below(5), 1 + random.below(40))
      let sources = (0..<count).map {
        SourceScan.Source(path: "s3://there/\($0)", id: ImageID(stringLiteral: "p\($0)"))
      }
      let counts = Mutex(Counts())
      let copies = SourceCopies(sources, ahead: threads) { source in
        counts.withLock { counts in
          counts.made[source.id, default: 0] += 1
          counts.waiting += 1
          counts.most = max(counts.most, counts.waiting)
        }
        return .failure(BuildError(source.path, "copied"))
      }
      // Some are passed over, as by a build that is cancelled.
      let taken = sources.filter { _ in random.below(10) > 0 }
      for source in taken {
        guard case .failure(let failure) = copies.take(source) else { return }
        #expect(failure.source == source.path)
        counts.withLock { $0.waiting -= 1 }
      }
      copies.end()
      counts.withLock { counts in
        #expect(taken.allSatisfy { counts.made[$0.id] == 1 }, "seed \(seed)")
        // As many threads copy as may be ahead, and the caller what nobody has begun.
        #expect(counts.most <= threads + 1 + (sources.count - taken.count), "seed \(seed)")
      }
    }
  }
}
