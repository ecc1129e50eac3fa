import Glibc
package import ZigguratFiles

/// An archive that another process writes into an open file. It appears under its name after a check that it is
/// complete.
package final class ArchiveFile {
  /// The file, open for writing at its start, for the other process alone. Its own name, if any, is temporary.
  package var descriptor: Int32 { file.descriptor }
  /// The path of the published archive.
  package var destination: String { file.destination }
  /// The name of the archive's one root folder.
  package let name: String
  private let file: AtomicFile
  /// Copies a finished archive, and the file that contains it, to another place.
  package typealias Send = (TileArchive, _ descriptor: Int32) throws(StorageError) -> Void
  private let send: Send?
  /// Whether publishing replaces an archive of the same name.
  package var replaces = true

  /// - Parameters:
  ///   - destination: the path of the published archive, in an existing folder.
  ///   - name: the name of the root folder: one path component.
  package convenience init(destination: String, name: String) throws(StorageError) {
    try self.init(destination: destination, name: name, send: nil)
  }

  /// - Parameter send: copies the finished archive elsewhere, so that no file remains. `publish` rethrows its errors.
  package init(
    destination: String, name: String, send: Send?
  ) throws(StorageError) {
    self.name = name
    self.send = send
    file = try AtomicFile(destination: destination, isHandedOut: true)
  }

  /// Closes `descriptor`, and checks whether another process can still write the file. If none can, its content no
  /// longer changes. Can be called again.
  package func withdraw() -> AtomicFile.Writers { file.withdraw() }

  /// Reads the archive's directory and gives the archive its name.
  ///
  /// - Parameter check: throws the defect of the archive, which is then not published.
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

  /// The number of bytes that are written so far.
  package var byteCount: Int {
    var status = stat()
    return fstat(file.readable, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Removes the file; does nothing after `publish`.
  package func abandon() { file.abandon() }
}

extension TileArchive {
  /// Whether the directory contains every tile of the pyramid.
  var isWhole: Bool { (0..<pyramid.tileCount).allSatisfy { checksum(ofTile: $0) != nil } }
}
