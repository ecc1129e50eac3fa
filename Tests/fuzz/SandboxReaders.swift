import Foundation
import Glibc
import TileGeometry
import TileStorage
import ZigguratFiles

@testable import PyramidBuilding
@testable import ZigguratMetadata
@testable import ZigguratSandbox
@testable import ZigguratTileRendering

extension FuzzInput {
  /// Reads the replies of a compromised sandboxed process. The first byte chooses the request.
  func receive() {
    guard let question = bytes.first else { return }
    let answer = Array(bytes.dropFirst())
    switch question % 4 {
    case 0: Conversation.shared.hear(answer)
    case 1:
      let message = WorkerMessage(kind: 2, bytes: answer)
      guard let inspection = try? BuildMessage.decode(SourceInspection.self, message) else { return }
      precondition(
        !inspection.isPossible || inspection.size.width > 0 && inspection.pages >= 0, "a picture has pixels")
    case 2:
      guard let sidecar = try? JSONDecoder().decode(Sidecar.self, from: Data(answer)) else { return }
      _ = sidecar.applied(to: ImageMetadata(title: "own"))
    default:
      if let request = RenderRequest(answer) {
        let again = RenderRequest(request.bytes)
        precondition(again?.bytes == request.bytes, "what was read is written the same")
      }
      if let request = SpawnRequest(answer) { precondition(request.bytes.count == SpawnRequest.size) }
    }
  }
}

/// A build whose sandboxed process replies with the bytes of a fuzzer input.
private final class Conversation {
  nonisolated(unsafe) static let shared = Conversation()  // libFuzzer calls from one thread.

  private let work: PictureJob
  private let builder = LibraryBuilder(store: NoStore(), options: BuildOptions(), jobs: 1)

  private init() {
    let path = MemoryFile.shared.filled(with: [1, 2, 3])
    guard let file = try? SourceFile(path: path, name: "photo.jpg"), let id = ImageID("photo") else {
      preconditionFailure("a source")
    }
    work = PictureJob(
      source: SourceScan.Source(path: path, id: id), file: file, digest: "0", metadata: .none)
  }

  func hear(_ bytes: [UInt8]) {
    let (own, others) = Self.pair(SOCK_STREAM)
    let (status, server) = Self.pair(SOCK_SEQPACKET)
    precondition(write(others, bytes, bytes.count) == bytes.count, "an input fits into a socket")
    shutdown(others, Int32(SHUT_WR))
    let record = SpawnReply(kind: .signal, value: 9).bytes
    precondition(write(server, record, record.count) == record.count)
    close(server)
    defer { close(others) }
    let process = SandboxedProcess(
      channel: WorkerChannel(own, isSandboxed: false), status: ProcessStatus(status))
    let pool = WorkPool(memoryLimit: 1 << 30)
    var carried = BuildJob(work, process, builder, pool, isAlone: false)
    defer { carried.end() }
    do throws(BuildJob.Stop) {
      let order = BuildOrder(
        path: work.source.path, name: "photo.jpg", root: "photo", folio: nil, associated: nil,
        digest: work.digest,
        metadata: .none, countsOnly: false)
      switch try carried.run(order, []) {
      case .pages(let pages): precondition(pages.count > 1)
      case .outcome(.failed(let error)):
        let isLine = !error.reason.isEmpty && !error.reason.contains { $0.isNewline }
        precondition(isLine && error.reason.count <= 1000, "a failure is reported in a line")
      case .outcome(let outcome):
        guard case .built = outcome else { preconditionFailure("built, failed or pages") }
      }
    } catch {
      guard case .process(let end) = error else { return }
      precondition(!end.description.isEmpty)
    }
  }

  private static func pair(_ type: __socket_type) -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    precondition(socketpair(AF_UNIX, Int32(type.rawValue), 0, &ends) == 0, "two sockets")
    return (ends[0], ends[1])
  }
}

/// A store that takes archives tile by tile, as private spaces do, and keeps nothing.
private struct NoStore: ArchiveStore {
  func prepare() {}
  func buildRecord(ofID id: ImageID) -> BuildRecord? { nil }
  func count() -> Int { 0 }
  func trash(_ ids: [ImageID]) -> TrashFolder.Failures { TrashFolder.Failures() }
  func purgeTrash(until oldest: Int) {}

  func makeWriter(
    id: ImageID, pyramid: Pyramid, format: TileFormat, replacing: Bool
  ) -> any ArchiveWriter {
    SZIWriter(descriptor: Self.nowhere, name: id.name, pyramid: pyramid, format: format)
  }

  private static let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
}
