import Foundation
import TileGeometry
import ZigguratFiles
import ZigguratImaging

@testable import PyramidBuilding
@testable import TileStorage
@testable import ZigguratTileRendering

extension FuzzInput {
  /// Opens and reads an untrusted archive as the server and `verify` do.
  func readArchive() {
    let archive: TileArchive
    do throws(StorageError) { archive = try TileArchive(path: path, within: nil) } catch {
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
    // A limited number: a descriptor may declare many more tiles than exist.
    for number in 0..<min(archive.pyramid.tileCount, 4096) {
      touch(archive.tile(number))
      _ = archive.defect(ofTile: number) { bytes in bytes.isEmpty ? "is empty" : nil }
      guard let address = archive.pyramid.address(at: number) else {
        preconditionFailure("a tile has a place")
      }
      precondition(
        archive.tileIndex(level: address.level, column: address.column, row: address.row) == number,
        "a place has its tile")
    }
    _ = (archive.stored(archive.pyramid.tileCount), archive.tile(-1), sum)
  }

  /// Reads records, writes them and reads them again. Checks the limits against the counts of another parser.
  func readRecords() {
    let json = Data(bytes)
    if let record = BuildRecord(json: json) {
      precondition(BuildRecord(json: Data(record.json)) == record, "a record can be kept")
      _ = (record.squareMicronsPerPixel, record.pageLabel)
    }
    if let metadata = ImageMetadata(json: json) {
      precondition(ImageMetadata(json: Data(metadata.boundedJSON)) != nil, "metadata can be kept")
      precondition(
        metadata.json.count > InputLimit.metadata.bytes || metadata.boundedJSON == metadata.json,
        "what fits is not cut")
    }
    let limits = JSONLimits(bytes: 40_000, depth: 4, values: 200)
    if bytes.withUnsafeBytes({ limits.refusal(of: $0) }) == nil,
      let object = try? JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)
    {
      let (depth, values) = Self.extent(object)
      precondition(depth <= limits.depth && values <= limits.values, "what passes the limits is within them")
    }
  }

  /// Returns the number of levels, and of values without the keys of objects.
  private static func extent(_ object: Any) -> (depth: Int, values: Int) {
    let parts: [Any]
    switch object {
    case let list as [Any]: parts = list
    case let members as [String: Any]: parts = Array(members.values)
    default: return (0, 1)
    }
    return parts.reduce((1, 1)) { sum, part in
      let inner = extent(part)
      return (max(sum.0, 1 + inner.depth), sum.1 + inner.values)
    }
  }

  /// Reads descriptors, writes them and reads them again.
  func readDescriptors() {
    if let microns = bytes.withUnsafeBytes({ ScanProperties.micronsPerPixel(xml: $0) }) {
      precondition(microns.count == 2 && microns.allSatisfy { $0.isFinite && $0 > 0 }, "a pixel has a size")
    }
    do throws(StorageError) {
      let descriptor = try DeepZoomDescriptor(xml: Data(bytes))
      let again = try? DeepZoomDescriptor(xml: Data(descriptor.xml.utf8))
      precondition(again == descriptor, "a descriptor can be kept")
    } catch { precondition(!error.reason.isEmpty, "a refusal has a reason") }
  }

  /// Reads a profile, compares it with sRGB and converts gray pixels by it.
  func readProfile() {
    let profile = ICCProfile(bytes)
    precondition(profile?.description?.isEmpty != true, "a name that is empty is none")
    _ = EmbeddedProfile.isSRGB(bytes)
    guard profile?.colourSpace == "GRAY" else { return }
    let shades = (0...255).map { UInt8($0) }
    let image = Image(copying: shades, width: 16, height: 16, bands: .gray, stride: 16)
    image.setProfile(bytes)
    try? image.convertedFromEmbeddedProfile(intent: "relative").decodeAll()
  }

  func decodeTile() {
    let codec = TurboJPEG()
    bytes.withUnsafeBytes { tile in
      // The first inputs have the size that their position requires.
      guard let format = TileFormat.allCases.first(where: { $0.imageFormat == ImageFormat(start: tile) }),
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
