import Foundation
import Glibc
import Testing
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import PyramidBuilding
@testable import ZigguratSandbox

/// Limits of the parent for a compromised sandboxed process, whose messages the test chooses.
@Suite struct BuildAllowanceTests {
  private func plan(_ width: Int, _ height: Int) -> BuildPlan {
    let pyramid = Pyramid(imageSize: PixelSize(width: width, height: height)!, tileSize: 512)!
    return BuildPlan(pyramid: pyramid, format: .jpeg, memory: 1 << 20)
  }

  @Test func `all pages together may have the allowed number of pixels`() {
    let allowance = BuildAllowance(pixels: 1000 * 1000)
    #expect(!allowance.take(plan(1001, 1000)))
    #expect(allowance.take(plan(1000, 600)))
    #expect(!allowance.take(plan(1000, 401)))
    allowance.giveBack(plan(1000, 600))
    #expect(allowance.take(plan(1000, 1000)))
    #expect(!allowance.take(plan(1, 1)))
    #expect(allowance.admits(pages: 1000) && !allowance.admits(pages: BuildAllowance.maxPages))
  }

  /// Answers of a process that says these messages, one after the other, and then nothing.
  private func answer(
    _ messages: [(UInt32, [UInt8])], _ allowance: BuildAllowance?, in folder: TemporaryFolder
  ) throws -> String {
    let path = try folder.write("photo.jpg", [1, 2, 3])
    var builder = LibraryBuilder(library: folder("library"), options: BuildOptions(), jobs: 1)
    builder.allowance = allowance
    try builder.prepare()
    var (channel, status): ([Int32], [Int32]) = ([0, 0], [0, 0])
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &channel) == 0)
    #expect(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &status) == 0)
    let other = WorkerChannel(channel[1], isSandboxed: true)
    for (kind, bytes) in messages { try bytes.withUnsafeBytes { try other.send(kind, $0) } }
    shutdown(channel[1], Int32(SHUT_WR))
    let record = SpawnReply(kind: .signal, value: 9).bytes
    #expect(write(status[1], record, record.count) == record.count)
    close(status[1])
    let process = SandboxedProcess(
      channel: WorkerChannel(channel[0], isSandboxed: false), status: ProcessStatus(status[0]))
    let work = PictureJob(
      source: SourceScan.Source(path: path, id: "photo"), file: try SourceFile(path: path), digest: "0",
      metadata: .none)
    var carried = BuildJob(work, process, builder, WorkPool(memoryLimit: 1 << 30), isAlone: false)
    defer { carried.end() }
    do throws(BuildJob.Stop) {
      let order = BuildOrder(
        path: path, name: "photo.jpg", root: "photo", folio: nil, associated: nil, digest: "0",
        metadata: .none,
        countsOnly: false)
      return "\(try carried.run(order, []))"
    } catch {
      switch error {
      case .builder(let error): return error.reason
      case .process: return "ended"
      }
    }
  }

  @Test func `a plan with too many pixels is rejected before anything is written`() throws {
    let plan = BuildMessage.encode(PlanMessage(plan(100_000, 100_000)))
    let folder = try TemporaryFolder()
    #expect(
      try answer([(BuildMessage.plan, plan)], BuildAllowance(pixels: 2_000_000_000), in: folder)
        == "it has more pixels than are allowed here")
    // Without an allowance it waits for what the process writes next, and that ended.
    #expect(try answer([(BuildMessage.plan, plan)], nil, in: folder) == "ended")
  }

  @Test func `too many pages are rejected`() throws {
    let pages = BuildMessage.encode(PagesMessage(count: 1_000_000, book: nil))
    let folder = try TemporaryFolder()
    #expect(
      try answer([(BuildMessage.pages, pages)], BuildAllowance(pixels: 1), in: folder)
        == "it has more than 100000 pages")
  }

  @Test func `a message that is costly to decode ends the process`() throws {
    let deep = [UInt8](repeating: UInt8(ascii: "["), count: 50_000)
    let folder = try TemporaryFolder()
    #expect(try answer([(BuildMessage.plan, deep)], nil, in: folder) == "ended")
  }
}
