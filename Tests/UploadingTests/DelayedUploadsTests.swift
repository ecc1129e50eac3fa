import Synchronization
import Testing
import ZigguratTestSupport

@testable import ZigguratUploading

/// Uploads that could not be tiled, for a reason that may pass.
@Suite struct DelayedUploadsTests {
  private let folder: TemporaryFolder
  private let uploads: Uploads
  private let upload: Upload

  init() throws {
    folder = try TemporaryFolder()
    uploads = try Uploads(library: folder.path)
    upload = try uploads.reserve(name: "a.jpg", folder: "", length: 5)
    try uploads.create(upload)
    upload.change { $0.stage = .waiting }
  }

  /// One attempt: how long it is put off, or nil where it has ended.
  private func fail(isOurs: Bool) throws -> Int? {
    upload.change { $0.notBefore = 0 }
    try #require(uploads.takeNext() === upload)
    let now = Uploads.now()
    uploads.retryLater(upload, errorCode: .server, reason: "it says so", isOurs: isOurs)
    #expect(upload.state.reason == "it says so")
    guard !upload.hasEnded else { return nil }
    // Until then others have their turn.
    #expect(upload.state.stage == .waiting && uploads.takeNext() == nil)
    return upload.state.notBefore - now
  }

  @Test func `an upload fails after a few attempts, each later than the one before`() throws {
    var pauses: [Int] = []
    while let pause = try fail(isOurs: false), pauses.count < 100 { pauses.append(pause) }
    #expect(upload.state.stage == .failed && upload.state.reason == "it says so")
    #expect((3...8).contains(pauses.count) && pauses == pauses.sorted())
    // Nobody else's outage of some minutes ends it.
    #expect(pauses.reduce(0, +) > 1800 && pauses[0] <= 21)
  }

  @Test func `an upload waits as long as the server lacks a resource`() throws {
    for _ in 0..<100 { #expect(try fail(isOurs: true) != nil) }
    #expect(upload.state.stage == .waiting)
  }

  @Test func `the next attempt is due at the time of the first upload that waits`() throws {
    #expect(uploads.secondsToNext == 0)
    let pause = try #require(try fail(isOurs: true))
    #expect((pause - 1...pause).contains(try #require(uploads.secondsToNext)))
    uploads.cancel(upload)
    #expect(uploads.secondsToNext == nil)
  }

  @Test func `progress is reported in steps of more than one percent and never falls`() throws {
    let reported = Mutex<[Double]>([])
    uploads.observe { upload in reported.withLock { $0.append(upload.state.progress) } }
    for progress in [0.005, 0.5, 0.505, 0.4, 0.52, 1] { uploads.notify(upload, progress: progress) }
    #expect(reported.withLock { $0 } == [0.5, 0.52, 1])
  }
}
