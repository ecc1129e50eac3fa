import Foundation
import TileGeometry
import TileStorage
import ZigguratImaging
import ZigguratTestSupport

@testable import PyramidBuilding

/// The `vips` command, the reference that builds are compared with.
enum Vips8 {
  static func run(_ arguments: String...) throws {
    try Tool.check(["vips"] + arguments)
  }

  /// Deep Zoom tiles of `source` in `folder`/reference_files/level/column_row.
  static func dzsave(_ source: String, to folder: String, tileSize: Int, suffix: String) throws {
    try run(
      "dzsave", source, folder + "/reference", "--tile-size", "\(tileSize)", "--overlap", "0", "--suffix",
      suffix)
  }
}

/// Photographs of plasma-workspace-wallpapers.
enum Photograph: String, CaseIterable {
  case leaf = "FallenLeaf/contents/images/2560x1600.jpg"
  case autumn = "Autumn/contents/images/2560x1600.jpg"
  case water = "BytheWater/contents/images/2560x1600.jpg"
  case cups = "ColorfulCups/contents/images/2560x1600.jpg"

  var path: String { "/usr/share/wallpapers/" + rawValue }

  /// A file of `columns` × `rows` pixels of the photograph, without its colour profile, in the format of
  /// `name`'s ending.
  func saved(
    in folder: TemporaryFolder, as name: String, columns: Int = 1731, rows: Int = 1203,
    _ prepare: (String) throws -> String = { $0 }
  ) throws -> String {
    let crop = folder("crop.v")
    try Vips8.run("crop", path, crop, "300", "200", "\(columns)", "\(rows)")
    let prepared = try prepare(crop)
    let options = name.split(separator: "[", maxSplits: 1)
    let file = folder(String(options[0]))
    let extra = options.count > 1 ? options[1].dropLast() + ",strip" : "strip"
    try Vips8.run("copy", prepared, "\(file)[\(extra)]")
    return file
  }
}

/// A built archive beside what dzsave makes of the same source.
struct Comparison {
  let archive: TileArchive
  let route: String
  private let reference: String
  private let folder: TemporaryFolder

  init(_ source: String, _ options: BuildOptions, suffix: String? = nil, threads: Int = 2) throws {
    folder = try TemporaryFolder()
    let path = folder("built.szi")
    let report = try PyramidBuilder(options: options, threads: threads).build(source, to: path, name: "built")
    route = report.route
    archive = try TileArchive(path: path)
    let ending = suffix ?? ".\(options.format.fileExtension)[Q=\(options.quality)]"
    try Vips8.dzsave(source, to: folder.path, tileSize: options.tileSize, suffix: ending)
    reference = folder("reference_files")
  }

  /// Every tile's address and the bytes that both sides have for it.
  func tiles() throws -> [(address: TileAddress, ours: [UInt8], theirs: [UInt8])] {
    let pyramid = archive.pyramid
    var tiles: [(TileAddress, [UInt8], [UInt8])] = []
    for level in 0..<pyramid.levelCount {
      for row in 0..<pyramid.rows(ofLevel: level) {
        for column in 0..<pyramid.columns(ofLevel: level) {
          guard let number = archive.tileIndex(level: level, column: column, row: row),
            let ours = archive.tile(number)
          else { throw Tool.Failure(description: "the archive has no tile \(level)/\(column)_\(row)") }
          let file = "\(reference)/\(level)/\(column)_\(row).\(archive.fileExtension)"
          guard let theirs = FileManager.default.contents(atPath: file) else {
            throw Tool.Failure(description: "dzsave wrote no \(file)")
          }
          tiles.append(
            (TileAddress(level: level, column: column, row: row), Array(ours), Array(theirs)))
        }
      }
    }
    return tiles
  }

  /// Pixels of an encoded tile, decoded by libvips.
  func pixels(_ bytes: [UInt8]) throws -> DecodedTile {
    let file = folder("tile")
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    return try DecodedTile(Image(path: file, access: .random))
  }

  /// Tiles whose pixels differ.
  func differingPixels() throws -> [TileAddress] {
    try tiles().filter { try pixels($0.ours) != pixels($0.theirs) }.map(\.address)
  }

  /// Tiles whose bytes differ, the JFIF header aside that dzsave leaves out: APP0, 18 bytes after SOI.
  func differingBytes() throws -> [TileAddress] {
    try tiles().filter { Array($0.ours[..<2] + $0.ours[20...]) != $0.theirs }.map(\.address)
  }
}

struct DecodedTile: Equatable {
  let width: Int
  let height: Int
  let bands: Int
  let pixels: [UInt8]

  init(_ image: Image) throws {
    (width, height, bands) = (image.width, image.height, image.bands)
    let rowSize = width * bands
    var pixels = [UInt8](repeating: 0, count: height * rowSize)
    try pixels.withUnsafeMutableBufferPointer {
      try PixelReader(image).read(rows: image.height, from: 0, to: $0.baseAddress!, stride: rowSize)
    }
    self.pixels = pixels
  }
}
