package import TileGeometry
package import TileStorage
package import ZigguratFiles

/// An archive in an object store, as a row of a shared catalog. The row answers requests for the image before its
/// archive is opened, and without a list of all archives.
package struct ArchiveRow: Hashable, Sendable {
  package let id: ImageID
  package let generation: UInt64
  /// The SHA-256 of its bytes, hexadecimal. It is part of the object's name.
  package let digest: String
  /// The entity tag of its object.
  package let etag: String
  /// The archive's size in bytes.
  package let byteCount: Int
  package let pyramid: Pyramid
  package let format: TileFormat
  /// Its build record, as JSON.
  package let build: [UInt8]
  /// The metadata of its archive, as JSON.
  package let metadata: [UInt8]

  package init(
    id: ImageID, generation: UInt64, digest: String, etag: String, byteCount: Int, pyramid: Pyramid,
    format: TileFormat, build: [UInt8], metadata: [UInt8]
  ) {
    self.id = id
    self.generation = generation
    self.digest = digest
    self.etag = etag
    self.byteCount = byteCount
    self.pyramid = pyramid
    self.format = format
    self.build = build
    self.metadata = metadata
  }
}

/// The rows of an image's archives in a catalog.
package struct ArchiveRows: Sendable {
  /// An archive that another one has replaced.
  package struct Former: Sendable {
    package let row: ArchiveRow
    /// The remaining time in seconds in which requests for its generation are answered.
    package let remains: Int
  }

  /// The current archive; nil if the image does not exist any more.
  package internal(set) var current: ArchiveRow?
  package internal(set) var former: [Former] = []
  /// The metadata of visitors; nil if there is none.
  package internal(set) var sidecar: Sidecar?

  /// The metadata that visitors wrote.
  package struct Sidecar: Hashable, Sendable {
    /// The whole XMP packet.
    package let xmp: [UInt8]
    /// The version, counted from 1.
    package let version: Int
  }
}

/// A set of changes that the writer applies to a catalog at once.
package struct ArchiveChange: Sendable {
  /// The listed entries, each with the row of its archive.
  package var entries: [CatalogEntry] = []
  package var archives: [ArchiveRow] = []
  /// The sidecar versions that the entries were made with; empty for images without a sidecar.
  package var versions: [ImageID: Int] = [:]
  /// Images that no longer exist.
  package var gone: [ImageID] = []

  package init() {}

  /// The first half of the archives, nil if there is only one, and the other archives with the removed images.
  var halves: (ArchiveChange?, ArchiveChange) {
    var (first, rest) = (ArchiveChange(), self)
    let half = (archives.count + 1) / 2
    first.archives = Array(archives[..<half])
    rest.archives = Array(archives[half...])
    first.versions = versions
    let ids = Set(first.archives.map(\.id))
    first.entries = entries.filter { ids.contains($0.id) }
    rest.entries = entries.filter { !ids.contains($0.id) }
    return (archives.count > 1 ? first : nil, rest)
  }
}

extension ArchiveRow {
  static let columns = "id, generation, digest, etag, bytes, width, height, tile_size, format, build, words"

  var values: [SQLValue] {
    [
      .text(id.text), .integer(Int(truncatingIfNeeded: generation)), .text(digest), .text(etag),
      .integer(byteCount),
      .integer(pyramid.imageSize.width), .integer(pyramid.imageSize.height), .integer(pyramid.tileSize),
      .text(format.fileExtension), .text(String(decoding: build, as: UTF8.self)),
      .text(String(decoding: metadata, as: UTF8.self)),
    ]
  }

  /// Reads a row; nil if another program wrote it and it is invalid.
  init?(_ row: any SQLRow) {
    guard let id = row.id(0), let digest = row.text(2), let etag = row.text(3),
      digest.utf8.count == 64,
      digest.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
      // It becomes part of a request header.
      !etag.isEmpty, etag.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), row.integer(4) > 0,
      let size = PixelSize(width: row.integer(5), height: row.integer(6)),
      let pyramid = Pyramid(imageSize: size, tileSize: row.integer(7)),
      let format = row.text(8).flatMap(TileFormat.init(fileExtension:))
    else { return nil }
    self.init(
      id: id, generation: UInt64(bitPattern: Int64(row.integer(1))), digest: digest, etag: etag,
      byteCount: row.integer(4), pyramid: pyramid, format: format, build: Array(row.bytes(9)),
      metadata: Array(row.bytes(10)))
  }
}
