// Writing and reading archives. TileStorage is the only import.
import TileStorage

/// Writes an archive of one-pixel tiles by hand, and reads it.
func storageExample() throws {
  let pyramid = Pyramid(imageSize: PixelSize(width: 3, height: 2)!, tileSize: 1)!
  var writer = try TileArchiveWriter(
    path: "written.szi", name: "written", pyramid: pyramid, format: .png,
    micronsPerPixel: Point(x: 0.5, y: 0.5))
  for level in 0..<pyramid.levelCount {
    for row in 0..<pyramid.rows(ofLevel: level) {
      for column in 0..<pyramid.columns(ofLevel: level) {
        let address = TileAddress(level: level, column: column, row: row)
        try writer.append(tile: address, grayPixel.span.bytes)
      }
    }
  }
  try writer.append(entry: "associated_images/label.png", grayPixel.span.bytes)
  let size = try writer.finish()

  let archive = try TileArchive(path: "written.szi")
  print(archive.name, archive.format.mediaType, archive.pyramid.tileCount, "tiles,", size, "bytes")
  print("scale", archive.micronsPerPixel?.x ?? 0, "metadata", archive.metadata.title ?? "none")
  let address = TileAddress(level: pyramid.topLevel, column: 2, row: 1)
  if let length = try archive.withTile(at: address, { $0.byteCount }) { print("in place", length, "bytes") }
  if let bytes = try archive.tile(at: address) { print("copied", bytes.count, "bytes", bytes == grayPixel) }
  for name in archive.entryNames {
    if let bytes = try archive.entry(named: name) { print(name, bytes.count, "bytes") }
  }

  do throws(ArchiveError) {
    _ = try archive.tile(at: TileAddress(level: 99, column: 0, row: 0))
  } catch { print("refused:", error.kind, error) }
  do throws(ArchiveError) {
    _ = try TileArchiveWriter(path: "a.szi", name: "a/b", pyramid: pyramid, format: .png).finish()
  } catch { print("refused:", error.kind, error) }
}

/// A PNG file of one gray pixel.
private let grayPixel: [UInt8] = [
  0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
  0x00,
  0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x7e, 0x9b, 0x55, 0x00, 0x00, 0x00, 0x0a,
  0x49,
  0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00, 0x81, 0x77, 0xcd, 0x72, 0xb6, 0x00,
  0x00,
  0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
]
