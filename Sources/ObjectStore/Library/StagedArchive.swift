import Glibc
import TileStorage
import ZigguratFiles

/// An archive that is written into a file of its own, and sent when it is finished. The file is then removed.
final class StagedArchive: ArchiveWriter {
  private let writer: SZIWriter
  private let path: String
  private let send: ArchiveFile.Send

  /// - Parameter path: the path at which `writer` writes.
  init(
    _ writer: SZIWriter, at path: String, send: @escaping ArchiveFile.Send
  ) {
    self.writer = writer
    self.path = path
    self.send = send
  }

  func append(tile index: Int, _ bytes: UnsafeRawBufferPointer, crc: UInt32) throws(StorageError) {
    try writer.append(tile: index, bytes, crc: crc)
  }

  func append(_ relativeName: String, _ bytes: [UInt8]) throws(StorageError) {
    try writer.append(relativeName, bytes)
  }

  func finish() throws(StorageError) -> Int {
    let count = try writer.finish()
    defer { unlink(path) }
    let archive = try TileArchive(path: path, within: nil)
    try send(archive, archive.file?.descriptor ?? -1)
    return count
  }

  func abandon() { writer.abandon() }
}
