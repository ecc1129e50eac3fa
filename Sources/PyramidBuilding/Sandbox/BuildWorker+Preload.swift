import Foundation
import Glibc
import TileGeometry
import TileStorage
import ZigguratCSandbox
import ZigguratSandbox

extension BuildWorker {
  /// Preloads libraries that the first picture would otherwise load, in a process with one thread. It builds two
  /// pictures of 16 by 16 pixels and discards the result.
  package static func preload(_ options: BuildOptions) {
    if options.format.startsThreads { return }
    for picture in pictures {
      let file = sandbox_memory_file()
      guard file >= 0, let bytes = Data(base64Encoded: picture) else { continue }
      defer { close(file) }
      bytes.withUnsafeBytes { _ = write(file, $0.baseAddress, $0.count) }
      let path = "/proc/self/fd/\(file)"
      // A failure would affect every picture, and the first one reports it.
      guard let source = try? SourceFile(path: path, name: "picture"),
        (try? SourcePages(file: source, options: options))?.count == 1
      else { continue }
      let report = try? PyramidBuilder(options: options, threads: 1)
        .build(source, digest: "", metadata: .none, for: nil) { (pyramid, format) in
          warmMessages(BuildPlan(pyramid: pyramid, format: format, memory: 1))
          return NoArchive()
        }
      _ = BuildMessage.encode(ResultMessage(route: report?.route ?? "", steps: report?.steps ?? []))
    }
  }

  private static func warmMessages(_ plan: BuildPlan) {
    let order = BuildOrder(
      path: "", name: "", root: "", page: nil, folio: nil, associated: nil, digest: "", metadata: .none,
      countsOnly: false)
    let message = WorkerMessage(kind: 0, bytes: BuildMessage.encode(order))
    _ = try? BuildMessage.decode(BuildOrder.self, message)
    _ = BuildMessage.encode(PlanMessage(plan))
  }

  /// A JPEG with chroma at half the resolution, and a PNG.
  private static let pictures = [
    "/9j/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//"
      + "2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAAR"
      + "CAAQABADASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAQAG/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/EABUBAQEAAAAA"
      + "AAAAAAAAAAAAAAED/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8AxyIKT//Z",
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAACXBIWXMAAArrAAAK6wGCiw1aAAAAt0lEQVQoz3VSSxbDIAj0"
      + "LDG2+yao6f0PVhRDBrTvzcIE5iMY9kKMmE93YLxL1rMicAc2IZOx0YElRtDvVI2elJ1WJ1xntAQfr+Z4dycSQj2ilUGrdJV4"
      + "l16ZPGERT50LDQKmSj2A/tkn54A16W6G4tm19fbtDjUPBwnWDqtUoj2mNPQ6kODyPIvbyme0ClarMIRHeyI4DiwOU63yrAno"
      + "4F4U0oLOJ31JHf4R+C2aSDwAXd88WSH8AJRcj0eXjQk4AAAAAElFTkSuQmCC",
  ]

  /// An archive that is discarded.
  private final class NoArchive: ArchiveWriter {
    func append(tile index: Int, _ bytes: UnsafeRawBufferPointer, crc: UInt32) {}
    func append(_ relativeName: String, _ bytes: [UInt8]) {}
    func finish() -> Int { 0 }
    func abandon() {}
  }
}
