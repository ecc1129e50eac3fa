import Foundation
import Testing
import ZigguratTestSupport

@testable import PyramidBuilding

/// Builds and failures of watched files, at times that the test chooses.
struct SourceChangesTests {
  private let folder: TemporaryFolder
  private let source: SourceScan.Source
  private let start = ContinuousClock.Instant.now

  init() throws {
    folder = try TemporaryFolder()
    source = SourceScan.Source(path: folder("a.jpg"), id: "a")
    try write(1)
  }

  private func write(_ size: Int) throws { try folder.write("a.jpg", [UInt8](repeating: 1, count: size)) }

  private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

  @Test func `a new file is built when a second check finds it unchanged`() throws {
    var changes = SourceChanges()
    #expect(changes.settled(of: [source], now: at(0)) == [])
    try write(2)
    #expect(changes.settled(of: [source], now: at(1)) == [])
    #expect(changes.isUnsettled)
    #expect(changes.settled(of: [source], now: at(2)) == [source])
    changes.remember([source], now: at(2))
    #expect(!changes.isUnsettled)
    #expect(changes.settled(of: [source], now: at(3)) == [])
  }

  @Test func `a new file's failure is reported only after the file stays unchanged`() throws {
    var changes = SourceChanges()
    _ = changes.settled(of: [source], now: at(0))
    #expect(changes.settled(of: [source], now: at(1)) == [source])
    changes.remember([source], now: at(1))
    #expect(changes.isFresh(source, now: at(1.5)))
    changes.postpone(source)
    for second in 2...4 {
      #expect(changes.settled(of: [source], now: at(Double(second))) == [])
      #expect(changes.isUnsettled, "looked at again")
    }
    #expect(changes.settled(of: [source], now: at(5)) == [source])
    changes.remember([source], now: at(5))
    #expect(!changes.isFresh(source, now: at(5)))
    #expect(!changes.isUnsettled)
  }

  @Test func `a copy that continues after a pause restarts the wait`() throws {
    var changes = SourceChanges()
    _ = changes.settled(of: [source], now: at(0))
    _ = changes.settled(of: [source], now: at(1))
    changes.remember([source], now: at(1))
    changes.postpone(source)
    #expect(changes.settled(of: [source], now: at(4)) == [])
    try write(3)
    #expect(changes.settled(of: [source], now: at(7)) == [])
    #expect(changes.settled(of: [source], now: at(8)) == [source])
    changes.remember([source], now: at(8))
    #expect(changes.isFresh(source, now: at(11)))
    #expect(!changes.isFresh(source, now: at(12)))
    try write(4)
    #expect(changes.isFresh(source, now: at(60)), "written while it was built")
  }

  @Test func `the first run treats a file that was just written as new`() throws {
    var changes = SourceChanges()
    // A copy may have its original's times.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: source.path)
    changes.remember([source])
    #expect(changes.isFresh(source))
    #expect(!changes.isFresh(source, now: .now + SourceChanges.stillness))
  }

  @Test func `a file with another id is another image`() throws {
    var changes = SourceChanges()
    changes.remember([source])
    let renamed = SourceScan.Source(path: source.path, id: "a.jpg")
    _ = changes.settled(of: [renamed], now: at(9))
    #expect(changes.settled(of: [renamed], now: at(10)) == [renamed])
  }

  @Test func `a removed file is not waited for`() throws {
    var changes = SourceChanges()
    changes.remember([source])
    changes.postpone(source)
    try FileManager.default.removeItem(atPath: source.path)
    #expect(changes.settled(of: [source], now: at(1)) == [])
    #expect(!changes.isUnsettled)
  }
}
