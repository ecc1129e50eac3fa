package import ZigguratFiles

/// The metadata of an archive as its entries: that of the picture itself, and that combined with its sidecar.
package struct ArchiveMetadata: Sendable {
  private let record: BuildRecord
  private let own: ImageMetadata
  private let effective: ImageMetadata

  /// - Parameters:
  ///   - record: the record of the build.
  ///   - own: the metadata in the picture itself.
  ///   - effective: the picture's metadata combined with that of the sidecar.
  package init(_ record: BuildRecord, own: ImageMetadata, effective: ImageMetadata) {
    self.record = record
    self.own = own
    self.effective = effective
  }

  /// The entries in the order in which they are written.
  private var entries: [(name: String, bytes: [UInt8])] {
    var entries = [(BuildRecord.entryName, record.json)]
    if effective != own { entries.append((ImageMetadata.ownEntryName, own.boundedJSON)) }
    if !effective.isEmpty { entries.append((ImageMetadata.entryName, effective.boundedJSON)) }
    return entries
  }

  package func append(to writer: any ArchiveWriter) throws(StorageError) {
    for entry in entries { try writer.append(entry.name, entry.bytes) }
  }

  /// Rewrites an archive with other metadata and the same tiles. The new archive replaces the old one when it is
  /// complete.
  ///
  /// - Parameters:
  ///   - destination: the path of the new archive; the old one then remains. Nil replaces the old one.
  ///   - name: the name of the root folder.
  ///   - metadata: returns the new metadata, given the build record and the picture's own metadata.
  /// - Returns: false if the archive was not built by this program or is incomplete; nothing is written then.
  package static func rewrite(
    archiveAt path: String, into destination: String? = nil, as name: String,
    _ metadata: (BuildRecord, _ own: ImageMetadata) -> ArchiveMetadata
  ) throws(StorageError) -> Bool {
    let archive = try TileArchive(path: path, within: nil)
    guard let record = archive.buildRecord, archive.file != nil, archive.visibleDefect == nil,
      archive.pyramid.overlap == 0, archive.fileExtension == archive.format.fileExtension
    else { return false }
    var tiles: [(number: Int, bytes: UnsafeRawBufferPointer, crc: UInt32)] = []
    tiles.reserveCapacity(archive.pyramid.tileCount)
    for number in 0..<archive.pyramid.tileCount {
      guard let bytes = archive.tile(number), let crc = archive.checksum(ofTile: number) else { return false }
      tiles.append((number, bytes, crc))
    }
    let changed = [BuildRecord.entryName, ImageMetadata.ownEntryName, ImageMetadata.entryName]
    var others: [(name: String, bytes: UnsafeRawBufferPointer)] = []
    for name in archive.entryNames where !changed.contains(name) && name != "\(archive.name).dzi" {
      guard archive.isIntact(name), let bytes = archive.entry(name) else { return false }
      others.append((name, bytes))
    }
    // In the order of the old file: a build with this metadata gives the same bytes.
    tiles.sort { $0.bytes.baseAddress! < $1.bytes.baseAddress! }
    others.sort { $0.bytes.baseAddress! < $1.bytes.baseAddress! }
    let writer = try SZIWriter(
      destination: destination ?? path, name: name, pyramid: archive.pyramid, format: archive.format)
    defer { writer.abandon() }
    for tile in tiles { try writer.append(tile: tile.number, tile.bytes, crc: tile.crc) }
    for other in others { try writer.append(other.name, Array(other.bytes)) }
    try metadata(record, archive.ownMetadata).append(to: writer)
    _ = try writer.finish()
    return true
  }
}
