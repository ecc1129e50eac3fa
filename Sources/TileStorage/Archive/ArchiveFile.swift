import Glibc
package import ZigguratFiles

/// An archive that another process writes into an open file; it appears under its name once it was found whole.
package final class ArchiveFile {
  /// Open for writing at its start, without a name of its own that stays; for the other process alone.
  package var descriptor: Int32 { file.descriptor }
  /// Where the archive will stand.
  package var destination: String { file.destination }
  /// The name of the archive's one root folder.
  package let name: String
  private let file: PartialFile
  /// Takes a finished archive, and the file that it lies in, elsewhere.
  package typealias Send = (TileArchive, _ descriptor: Int32) throws(StorageError) -> Void
  private let send: Send?
  /// Whether it replaces an archive of its name.
  package var replaces = true

  /// - Parameters:
  ///   - destination: where the archive will stand; its folder exists.
  ///   - name: of the root folder: one path component.
  package convenience init(destination: String, name: String) throws(StorageError) {
    try self.init(destination: destination, name: name, send: nil)
  }

  /// - Parameter send: takes the finished archive elsewhere, so that no file stays; what it throws, `publish` throws.
  package init(
    destination: String, name: String, send: Send?
  ) throws(StorageError) {
    self.name = name
    self.send = send
    file = try PartialFile(destination: destination, isHandedOut: true)
  }

  /// Finds out whether the other process let go of the file, so that what is read of it now stays as it is. Nothing is
  /// written by `descriptor` any more. May be asked again.
  package func takeBack() -> PartialFile.Writers { file.takeBack() }

  /// Reads the archive's directory and gives the archive its name.
  ///
  /// - Parameter check: throws what is wrong with the archive, which then is not published.
  /// - Returns: the archive's size in bytes.
  package func publish(_ check: (TileArchive) throws(StorageError) -> Void) throws(StorageError) -> Int {
    let archive = try TileArchive(descriptor: file.readable, path: file.destination)
    guard archive.name == name, archive.isWhole else {
      throw StorageError("write \(file.destination)", "the archive is incomplete")
    }
    try check(archive)
    if let send {
      try send(archive, file.readable)
      file.abandon()
    } else {
      try file.publish(replacing: replaces)
    }
    return archive.byteCount ?? 0
  }

  /// How many there are so far.
  package var byteCount: Int {
    var status = stat()
    return fstat(file.readable, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Leaves nothing behind; does nothing after `publish`.
  package func abandon() { file.abandon() }
}

extension TileArchive {
  /// Whether the directory names every tile of the pyramid.
  var isWhole: Bool { (0..<pyramid.tileCount).allSatisfy { checksum(ofTile: $0) != nil } }
}
