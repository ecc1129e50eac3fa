public import TileGeometry
import ZigguratFiles

/// Reading for programs that use the library: by address, checked, and without bytes that outlive the archive.
extension TileArchive {
  /// Calls a function with the encoded bytes of a tile, which are not copied.
  ///
  /// The bytes of an SZI file are its mapping. See `TileArchive` for what happens if another process truncates the
  /// file. The bytes are not compared with their checksum.
  ///
  /// - Parameters:
  ///   - address: the tile.
  ///   - body: receives the file content of the tile, which is an image in `format`.
  /// - Returns: the result of `body`; `nil` if the archive was written without this tile, as `vips dzsave` does with
  ///   `--skip-blanks` and `--depth`.
  /// - Throws: `ArchiveError` of kind `invalidArgument` if the address is outside the pyramid, `damaged`, or
  ///   `unavailable`; and what `body` throws.
  public func withTile<Result>(
    at address: TileAddress, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    let number = try number(of: address)
    let bytes: UnsafeRawBufferPointer?
    do throws(StorageError) { bytes = try waitForTile(number).required(action(ofTile: number)) } catch {
      throw ArchiveError(error)
    }
    guard let bytes else { return nil }
    return try withExtendedLifetime(self) { try body(bytes.bytes) }
  }

  /// Returns a copy of the encoded bytes of a tile.
  ///
  /// The bytes of an SZI file are read with `pread` and compared with the CRC-32 in the file's directory.
  ///
  /// - Parameter address: the tile.
  /// - Returns: the file content of the tile, which is an image in `format`; `nil` if the archive was written without
  ///   this tile.
  /// - Throws: `invalidArgument` if the address is outside the pyramid; `damaged` if the tile is missing, truncated or
  ///   altered; or `unavailable`.
  public func tile(at address: TileAddress) throws(ArchiveError) -> [UInt8]? {
    let number = try number(of: address)
    do throws(StorageError) { return try copy(ofTile: number) } catch { throw ArchiveError(error) }
  }

  /// Returns a copy of an entry that is not a tile.
  ///
  /// - Parameter name: a name of `entryNames`, such as `scan-properties.xml`.
  /// - Returns: the content; `nil` if there is no such entry.
  /// - Throws: `damaged` if the entry is truncated or altered, or `unavailable`.
  public func entry(named name: String) throws(ArchiveError) -> [UInt8]? {
    guard let zip else { return entry(name).map { Array($0) } }
    do throws(StorageError) { return try zip.copy(ofEntry: name) } catch { throw ArchiveError(error) }
  }

  private func number(of address: TileAddress) throws(ArchiveError) -> Int {
    guard let number = tileIndex(level: address.level, column: address.column, row: address.row) else {
      throw ArchiveError(
        invalidArgument: "the pyramid has no tile \(address.level)/\(address.column)_\(address.row)",
        to: "read a tile of \(name)")
    }
    return number
  }
}
