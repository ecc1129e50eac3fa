import Files
import Imaging
import TileGeometry

@testable import PyramidBuilding
@testable import TileRendering
@testable import TileStorage

extension FuzzInput {
  /// As the server and `verify` open and read one, whoever wrote it.
  func readArchive() {
    let archive: TileArchive
    do throws(StorageError) { archive = try TileArchive(path: path) } catch {
      precondition(!error.reason.isEmpty, "a refusal has a reason")
      return
    }
    _ = (archive.buildRecord, archive.metadata)
    var sum: UInt8 = 0
    func touch(_ bytes: UnsafeRawBufferPointer?) {
      for byte in bytes ?? UnsafeRawBufferPointer(start: nil, count: 0) { sum &+= byte }
    }
    for name in archive.entryNames {
      touch(archive.entry(name))
      _ = archive.isIntact(name)
    }
    // As many as fit; a descriptor may name many more than there are.
    for number in 0..<min(archive.pyramid.tileCount, 4096) {
      touch(archive.tile(number))
      _ = archive.fault(ofTile: number) { bytes in bytes.isEmpty ? "is empty" : nil }
      guard let address = archive.pyramid.address(at: number) else {
        preconditionFailure("a tile has a place")
      }
      precondition(
        archive.tileIndex(level: address.level, column: address.column, row: address.row) == number,
        "a place has its tile")
    }
    _ = (archive.stored(archive.pyramid.tileCount), archive.tile(-1), sum)
  }

  /// Told, compared with sRGB, and gone by for pixels of RGB and of gray.
  func readProfile() {
    let told = ICCProfile(bytes)
    precondition(told?.description?.isEmpty != true, "a name that is empty is none")
    _ = EmbeddedProfile.isSRGB(bytes)
    guard told?.colourSpace == "GRAY" else { return }
    let shades = (0...255).map { UInt8($0) }
    let image = Image(copying: shades, width: 16, height: 16, bands: .gray, stride: 16)
    image.setProfile(bytes)
    try? image.convertedFromEmbeddedProfile(intent: "relative").decodeAll()
  }

  func decodeTile() {
    let codec = TurboJPEG()
    bytes.withUnsafeBytes { tile in
      // That of the first inputs is what its place wants.
      guard let format = TileFormat.allCases.first(where: { $0.signature == ImageSignature(tile) }),
        let size = PixelSize(width: 64, height: 48)
      else { return }
      if let jpeg = Image.jpeg(inTile: tile, format, width: size.width, height: size.height) {
        precondition(jpeg.starts(with: [0xff, 0xd8]), "what was a JPEG is one")
      }
      for isPlanar in [true, false] {
        do throws(RenderError) {
          let pixels = try TileDecoder.decode(tile, as: format, size: size, planar: isPlanar, codec)
          precondition(pixels.width > 0 && pixels.height > 0, "a picture has pixels")
          let color = try codec.interleaved(pixels)
          if color.layout == .interleaved(.rgb) { _ = try codec.encode(color, quality: 80) }
        } catch {
          precondition(!error.description.isEmpty, "a refusal has a reason")
        }
      }
    }
  }
}
