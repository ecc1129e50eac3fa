import Foundation
import Synchronization
import Testing
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratImaging
import ZigguratTestSupport

@testable import PyramidBuilding

@Suite struct PyramidBuilderAsyncTests {
  private let folder: TemporaryFolder
  private var options = BuildOptions()

  init() throws {
    folder = try TemporaryFolder()
    (options.format, options.tileSize) = (.png, 64)
  }

  @Test func `progress goes from 0 to 1 and ends with the build`() async throws {
    try Picture(width: 300, height: 2000, bands: 3).writePNG(folder("source.png"))
    let builder = PyramidBuilder(options: options, threads: 2)
    let progress = BuildProgress()
    async let report = builder.build(
      folder("source.png"), to: folder("a.szi"), name: "a", progress: progress)
    var fractions: [Double] = []
    for await fraction in progress { fractions.append(fraction) }
    #expect(fractions == fractions.sorted() && fractions.last == 1)
    #expect(fractions.allSatisfy { 0...1 ~= $0 })
    #expect(try await report.byteCount == (try bytes(ofFile: folder("a.szi")).count))
    // The same on the caller's thread, without progress.
    _ = try { try builder.build(folder("source.png"), to: folder("b.szi"), name: "a") }()
    #expect(try bytes(ofFile: folder("a.szi")) == (try bytes(ofFile: folder("b.szi"))))
    // Nobody iterates, and the build does not wait.
    _ = try await builder.build(
      folder("source.png"), to: folder("a.szi"), name: "a", progress: BuildProgress())
    let failed = BuildProgress()
    await #expect(throws: BuildError.self) {
      try await builder.build(folder("none.png"), to: folder("c.szi"), name: "c", progress: failed)
    }
    for await _ in failed { Issue.record("a build that never began has progress") }
  }

  @Test func `cancelling the task ends the build and leaves nothing`() async throws {
    let read = Counter()
    let picture = Picture(width: 64, height: 64 * 100, bands: 1)
    let builder = PyramidBuilder(options: options, threads: 2)
    let (started, go) = AsyncStream.makeStream(of: Void.self)
    let cancelled = DispatchSemaphore(value: 0)
    let path = folder("a.szi")
    let task = Task {
      var source = Samples(picture)
      source.onRead = { rows in
        read.add(rows.count)
        guard rows.contains(64 * 10) else { return }
        go.finish()
        // Until the task is cancelled.
        cancelled.wait()
      }
      return try await builder.build(source, to: path, name: "a")
    }
    for await _ in started {}
    task.cancel()
    cancelled.signal()
    let result = await task.result
    #expect { try result.get() } throws: { ($0 as? BuildError)?.kind == .cancelled }
    #expect(read.value < picture.height)
    #expect(folder.files() == [])
    // A task that is cancelled before it builds.
    let late = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await builder.build("/dev/zero", to: path, name: "a")
    }
    late.cancel()
    let end = await late.result
    #expect { try end.get() } throws: { ($0 as? BuildError)?.kind == .cancelled }
  }

  @Test func `invalid options, names and numbers of threads are rejected`() async throws {
    try Picture(width: 10, height: 10, bands: 3).writePNG(folder("source.png"))
    func kind(_ name: String = "a", threads: Int = 1, _ change: (inout BuildOptions) -> Void = { _ in }) async
      -> BuildError.Kind?
    {
      var options = options
      change(&options)
      do throws(BuildError) {
        _ = try await PyramidBuilder(options: options, threads: threads)
          .build(folder("source.png"), to: folder("a.szi"), name: name)
        try? FileManager.default.removeItem(atPath: folder("a.szi"))
        return nil
      } catch { return error.kind }
    }
    for name in ["a/b", "", "..", "a\0"] { #expect(await kind(name) == .invalidArgument) }
    for threads in [0, -1, 1025] { #expect(await kind(threads: threads) == .invalidArgument) }
    for size in [0, 63, 65, 62, 8194, 1_000_000, -512] {
      #expect(await kind { $0.tileSize = size } == .invalidArgument)
    }
    for quality in [0, 101, 500, -1] { #expect(await kind { $0.quality = quality } == .invalidArgument) }
    for background in [[], [1, 2], [0, 0, 256], [-1, 0, 0]] {
      #expect(await kind { $0.background = background } == .invalidArgument)
    }
    for bands in [[], [1, 2], [0], [1, 2, 3, 4]] {
      #expect(await kind { $0.bands = bands } == .invalidArgument)
    }
    for window in [
      SampleWindow.range(low: .value(2), high: .value(1)), .range(low: .value(.nan), high: .value(1)),
      .range(low: .percentile(-1), high: .percentile(50)),
      .range(low: .value(.infinity), high: .percentile(1)),
      .channels([]), .range(low: .percentile(99), high: .percentile(1)),
    ] {
      #expect(await kind { $0.window = window } == .invalidArgument)
    }
    #expect(await kind { ($0.downsampling, $0.keepsProfile) = (.linear, true) } == .invalidArgument)
    #expect(folder.files() == ["source.png"])
    #expect(await kind() == nil)
    #expect(await kind { $0.downsampling = .linear } == nil)
    #expect(await kind { $0.keepsProfile = true } == nil)
    #expect(
      await kind {
        ($0.bands, $0.subsampling, $0.intent, $0.quality) = ([2], .none, .absolute, 100)
        $0.window = .range(low: .percentile(1), high: .percentile(99))
      } == nil)
  }

  @Test func `each kind of error has its own case`() async throws {
    let source = folder("source.png")
    try Picture(width: 10, height: 10, bands: 3).writePNG(source)
    func kind(_ source: String, _ destination: String) async -> BuildError.Kind? {
      do throws(BuildError) {
        _ = try await PyramidBuilder(options: options, threads: 1)
          .build(source, to: folder(destination), name: "a")
        return nil
      } catch { return error.kind }
    }
    #expect(await kind(folder("none.png"), "a.szi") == .sourceNotFound)
    #expect(await kind(try folder.write("text.png", Array("no image".utf8)), "a.szi") == .unreadableSource)
    #expect(await kind("/dev/null", "a.szi") == .unreadableSource)
    #expect(await kind(source, "none/a.szi") == .unwritableArchive)
    #expect(BuildError(source, StorageError("write a.szi", errno: ENOSPC)).kind == .diskFull)
    #expect(BuildError(source, StorageError("write a.szi", errno: EDQUOT)).kind == .diskFull)
    #expect(BuildError(source, StorageError("write a.szi", errno: EMFILE)).kind == .unavailable)
    #expect(BuildError(source, StorageError("write a.szi", errno: EACCES)).kind == .unwritableArchive)
    #expect(BuildError(source, StorageError("read \(source)", errno: EACCES)).kind == .unreadableSource)
  }
}

/// A number that threads add to.
private final class Counter: Sendable {
  private let number = Mutex(0)

  var value: Int { number.withLock { $0 } }

  func add(_ count: Int) { number.withLock { $0 += count } }
}
