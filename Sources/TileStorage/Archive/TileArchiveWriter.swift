public import TileGeometry
import ZigguratFiles

/// A writer of an SZI 1.2 file from encoded tiles.
///
/// The file appears under its path, complete and synced to disk, when `finish()` returns. A writer that is released
/// without `finish()` leaves nothing behind, and an older file at the path stays unchanged. Tiles can be appended in
/// any order. The file contains them in that order, so equal calls give equal files.
///
/// A writer needs 24 bytes of memory for each tile of the pyramid, and keeps no tile.
public struct TileArchiveWriter: ~Copyable {
  private let writer: SZIWriter
  private let path: String
  private let micronsPerPixel: Point?
  /// The number of tiles that are not appended yet.
  private var missing: Int
  private var entries: Set<String> = []
  /// The error after which the file cannot be completed.
  private var failure: ArchiveError?

  /// The maximum number of tiles in an archive.
  package static let maxTiles = 1 << 28

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - path: the file to write or replace, in a folder that exists. Its usual extension is `szi`.
  ///   - name: the name of the one folder in the file: 1 to 255 bytes of UTF-8 without a slash, not `.` or `..`.
  ///   - pyramid: the image's levels and tiles: an overlap of 0 and at most 2^28 tiles.
  ///   - format: the format of all tiles.
  ///   - micronsPerPixel: the size of an image pixel in microns, across (`x`) and down (`y`); `nil` if it is unknown.
  /// - Throws: `invalidArgument`, `notFound` if the folder does not exist, `accessDenied`, `diskFull` or `unavailable`.
  public init(
    path: String, name: String, pyramid: Pyramid, format: TileFormat, micronsPerPixel: Point? = nil
  ) throws(ArchiveError) {
    if let refusal = Self.refusal(name: name, pyramid) ?? Self.refusal(micronsPerPixel) {
      throw ArchiveError(invalidArgument: refusal, to: "write \(path)")
    }
    do throws(StorageError) {
      writer = try SZIWriter(destination: path, name: name, pyramid: pyramid, format: format)
    } catch { throw ArchiveError(error) }
    self.path = path
    self.micronsPerPixel = micronsPerPixel
    missing = pyramid.tileCount
  }

  deinit { writer.abandon() }

  /// Appends a tile.
  ///
  /// - Parameters:
  ///   - address: the tile, which was not appended before.
  ///   - bytes: the encoded tile, an image in the archive's format. It is not decoded here.
  /// - Throws: `invalidArgument` if the address is outside the pyramid or its tile was appended before, or if the tile
  ///   is empty or has 4 GiB or more; the writer can be used further. `diskFull`, `unavailable` or `other` if the
  ///   system refused to write; the archive can then not be completed.
  public mutating func append(tile address: TileAddress, _ bytes: RawSpan) throws(ArchiveError) {
    let action = "append tile \(address.level)/\(address.column)_\(address.row) to \(path)"
    guard let index = writer.descriptor.pyramid.index(of: address) else {
      throw ArchiveError(invalidArgument: "it is outside the pyramid", to: action)
    }
    guard !writer.hasTile(index) else {
      throw ArchiveError(invalidArgument: "it was appended before", to: action)
    }
    try check(bytes, action)
    guard bytes.byteCount > 0 else { throw ArchiveError(invalidArgument: "it is empty", to: action) }
    try write { (writer) throws(StorageError) in
      try bytes.withUnsafeBytes { (bytes) throws(StorageError) in
        try writer.append(tile: index, bytes, crc: checksum(bytes))
      }
    }
    missing -= 1
  }

  /// Appends an entry that is not a tile, such as `associated_images/label.jpg`.
  ///
  /// - Parameters:
  ///   - name: the name below the root folder: 1 to 1024 bytes of UTF-8, parts separated by single slashes, none of
  ///     them `.` or `..`. It is not `scan-properties.xml`, the descriptor's or a tile's name, and was not used before.
  ///   - bytes: the content, less than 4 GiB.
  /// - Throws: as `append(tile:_:)`.
  public mutating func append(entry name: String, _ bytes: RawSpan) throws(ArchiveError) {
    let action = "append \(name) to \(path)"
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    let root = writer.name
    guard 1...1024 ~= name.utf8.count, !name.utf8.contains(0), !name.contains("\\"),
      parts.allSatisfy({ !["", ".", ".."].contains($0) }), parts[0] != "\(root)_files",
      name != "\(root).dzi", name != ScanProperties.entryName
    else { throw ArchiveError(invalidArgument: "the name is not allowed", to: action) }
    guard !entries.contains(name) else {
      throw ArchiveError(invalidArgument: "it was appended before", to: action)
    }
    try check(bytes, action)
    try write { (writer) throws(StorageError) in
      try writer.append(name, bytes.withUnsafeBytes { Array($0) })
    }
    entries.insert(name)
  }

  /// Completes the file and gives it its path.
  ///
  /// - Returns: the file's size in bytes.
  /// - Throws: `invalidArgument` if a tile of the pyramid was not appended; the error of an earlier call that could not
  ///   write; or `diskFull`, `unavailable` or `other`. Nothing is left behind then.
  public consuming func finish() throws(ArchiveError) -> Int {
    if let failure { throw failure }
    guard missing == 0 else {
      throw ArchiveError(
        invalidArgument:
          "\(missing) of the pyramid's \(writer.descriptor.pyramid.tileCount) tiles were not appended",
        to: "complete \(path)")
    }
    let properties = ScanProperties(
      imageSize: writer.descriptor.pyramid.imageSize, micronsPerPixel: micronsPerPixel)
    do throws(StorageError) {
      try writer.append(ScanProperties.entryName, Array(properties.xml.utf8))
      return try writer.finish()
    } catch { throw ArchiveError(error) }
  }

  private mutating func write(
    _ body: (SZIWriter) throws(StorageError) -> Void
  ) throws(ArchiveError) {
    if let failure { throw failure }
    do throws(StorageError) { try body(writer) } catch {
      let failure = ArchiveError(error)
      self.failure = failure
      throw failure
    }
  }

  private func check(_ bytes: RawSpan, _ action: String) throws(ArchiveError) {
    guard bytes.byteCount < SZIWriter.maxBytes else {
      throw ArchiveError(invalidArgument: "\(bytes.byteCount) bytes are too many", to: action)
    }
  }

  /// Returns why an archive cannot have this name or this pyramid; nil if it can.
  package static func refusal(name: String, _ pyramid: Pyramid? = nil) -> String? {
    guard 1...255 ~= name.utf8.count, !name.utf8.contains(0), !name.contains("/"), !name.contains("\\"),
      ![".", ".."].contains(name)
    else {
      return "invalid name '\(name)' (expected 1 to 255 bytes without a slash)"
    }
    guard let pyramid else { return nil }
    if pyramid.overlap != 0 { return "invalid overlap \(pyramid.overlap) (SZI expects 0)" }
    guard pyramid.tileCount <= maxTiles else {
      return "\(pyramid.tileCount) tiles are too many (allowed: \(maxTiles))"
    }
    return nil
  }

  /// Returns why a physical scale is invalid; nil if it is valid.
  package static func refusal(_ micronsPerPixel: Point?) -> String? {
    guard let microns = micronsPerPixel else { return nil }
    let isPossible = [microns.x, microns.y].allSatisfy { $0.isFinite && $0 > 0 }
    return isPossible
      ? nil : "invalid microns per pixel \(microns.x), \(microns.y) (expected positive numbers)"
  }
}
