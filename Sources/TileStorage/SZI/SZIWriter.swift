package import TileGeometry
package import ZigguratFiles

/// A writer of one SZI archive (SZI 1.2), which is a ZIP file, front to back. The archive appears under its name when `finish` returns.
///
/// The order in which tiles are appended is the order of the bytes, so equal calls give equal files. Not for several
/// threads at a time.
package final class SZIWriter {
  /// The content of the archive's `.dzi`.
  package let descriptor: DeepZoomDescriptor
  /// The name of the root folder.
  let name: String
  private let output: Output
  /// Whether finishing replaces an archive of the same name.
  package var replaces = true
  private var buffer: [UInt8] = []
  private var flushed = 0
  private var tiles: [(offset: Int, size: Int, crc: UInt32)]
  private var others: [(name: [UInt8], offset: Int, size: Int, crc: UInt32)] = []
  private static let bufferSize = 1 << 20
  /// The upper limit of an entry's size in bytes: ZIP64 fields are only used for the file as a whole.
  static let maxBytes = 0xffff_ffff
  private var position: Int { flushed + buffer.count }

  /// The name in errors of an archive whose path the writing process does not know.
  package static let unnamed = "the archive"

  /// The destination of the bytes.
  private enum Output {
    case partial(AtomicFile)
    /// A file of another process, which publishes it.
    case open(Int32)

    var name: String {
      switch self {
      case .partial(let file): file.destination
      case .open: SZIWriter.unnamed
      }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
      switch self {
      case .partial(let file): try file.write(bytes)
      case .open(let descriptor): try writeAll(bytes, to: descriptor, path: name)
      }
    }
  }

  /// Creates a writer of an archive that replaces the file at `destination` when it is finished.
  ///
  /// - Parameters:
  ///   - destination: the path of the finished archive, in an existing folder.
  ///   - name: the name of the root folder: one path component.
  ///   - pyramid: the image's levels and tiles, without overlap.
  ///   - format: the format in which all tiles are encoded.
  package convenience init(
    destination: String, name: String, pyramid: Pyramid, format: TileFormat
  ) throws(StorageError) {
    self.init(.partial(try AtomicFile(destination: destination)), name, pyramid, format)
  }

  /// Creates a writer into an open file, which its owner publishes and closes.
  package convenience init(descriptor: Int32, name: String, pyramid: Pyramid, format: TileFormat) {
    self.init(.open(descriptor), name, pyramid, format)
  }

  private init(_ output: Output, _ name: String, _ pyramid: Pyramid, _ format: TileFormat) {
    precondition(pyramid.overlap == 0, "SZI 1.2 forbids overlap")
    precondition(!name.isEmpty && !name.contains("/"), "a root folder is one path component")
    descriptor = DeepZoomDescriptor(pyramid: pyramid, format: format)
    self.name = name
    tiles = Array(repeating: (-1, 0, 0), count: pyramid.tileCount)
    self.output = output
    buffer.reserveCapacity(Self.bufferSize + (1 << 18))
  }

  /// Whether the tile of this index (by `Pyramid.index(of:)`) was appended.
  func hasTile(_ index: Int) -> Bool { tiles[index].offset >= 0 }

  /// Appends a tile; each is appended once.
  ///
  /// - Parameters:
  ///   - index: the tile's index by `Pyramid.index(of:)`.
  ///   - bytes: the encoded tile.
  ///   - crc: the CRC-32 of `bytes`.
  package func append(tile index: Int, _ bytes: UnsafeRawBufferPointer, crc: UInt32) throws(StorageError) {
    precondition(!hasTile(index), "a tile is written once")
    tiles[index] = (position, bytes.count, crc)
    try append(tileName(index), bytes, crc: crc)
  }

  /// Appends an entry that is not a tile. Its name is relative to the root folder.
  package func append(_ relativeName: String, _ bytes: [UInt8]) throws(StorageError) {
    let fullName = Array("\(name)/\(relativeName)".utf8)
    let crc = bytes.withUnsafeBytes { checksum($0) }
    others.append((fullName, position, bytes.count, crc))
    try bytes.withUnsafeBufferPointer { (bytes) throws(StorageError) in
      try append(fullName, UnsafeRawBufferPointer(bytes), crc: crc)
    }
  }

  /// Adds the descriptor and the directory, and publishes the archive under its name. Returns its size in bytes.
  package func finish() throws(StorageError) -> Int {
    precondition(tiles.allSatisfy { $0.offset >= 0 }, "an archive holds every tile")
    try append("\(name).dzi", Array(descriptor.xml.utf8))
    let start = position
    for other in others {
      ZIPRecord.appendCentralEntry(
        &buffer, name: other.name, size: other.size, crc: other.crc, offset: other.offset)
      try flushIfFull()
    }
    for (index, tile) in tiles.enumerated() {
      ZIPRecord.appendCentralEntry(
        &buffer, name: tileName(index), size: tile.size, crc: tile.crc, offset: tile.offset)
      try flushIfFull()
    }
    ZIPRecord.appendEnd(
      &buffer, entries: others.count + tiles.count, directorySize: position - start,
      directoryOffset: start)
    try flush()
    if case .partial(let file) = output { try file.publish(replacing: replaces) }
    return flushed
  }

  /// Removes everything that was written; does nothing after `finish`.
  package func abandon() {
    if case .partial(let file) = output { file.abandon() }
  }

  private func append(_ name: [UInt8], _ bytes: UnsafeRawBufferPointer, crc: UInt32) throws(StorageError) {
    guard bytes.count < Self.maxBytes else {
      throw StorageError("write \(output.name)", "an entry of \(bytes.count) bytes is too large")
    }
    ZIPRecord.appendLocalHeader(&buffer, name: name, size: bytes.count, crc: crc)
    if bytes.count >= Self.bufferSize {
      try flush()
      try output.write(bytes)
      flushed += bytes.count
    } else {
      buffer.append(contentsOf: bytes)
      try flushIfFull()
    }
  }

  private func tileName(_ index: Int) -> [UInt8] {
    let address = descriptor.pyramid.address(at: index)!
    return Array(
      "\(name)/\(name)_files/\(address.level)/\(address.column)_\(address.row).\(descriptor.fileExtension)"
        .utf8)
  }

  private func flushIfFull() throws(StorageError) {
    if buffer.count >= Self.bufferSize { try flush() }
  }

  private func flush() throws(StorageError) {
    try buffer.withUnsafeBufferPointer { (bytes) throws(StorageError) in
      try output.write(UnsafeRawBufferPointer(bytes))
    }
    flushed += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }
}
