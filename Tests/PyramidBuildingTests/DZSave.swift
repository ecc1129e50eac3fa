import Foundation
import TileGeometry
import ZigguratTestSupport

/// The tiles that `vips dzsave` makes of an image: the reference.
struct DZSave {
  private let folder: TemporaryFolder
  /// Files below `NAME_files`, such as `9/0_0.png`.
  let names: [String]

  /// - Parameter suffix: of the tiles with the saver's options: `.jpg[Q=80]`.
  init(_ source: String, suffix: String, tileSize: Int = 512) throws {
    folder = try TemporaryFolder()
    try Tool.check([
      "vips", "dzsave", source, folder("dz"), "--tile-size", "\(tileSize)", "--overlap", "0", "--suffix",
      suffix,
    ])
    names = folder.files(below: "dz_files").filter { !$0.hasSuffix(".xml") }
  }

  func path(_ name: String) -> String { folder("dz_files/\(name)") }

  static func name(_ address: TileAddress, _ ending: String) -> String {
    "\(address.level)/\(address.column)_\(address.row).\(ending)"
  }
}

extension Pyramid {
  var addresses: [TileAddress] { (0..<tileCount).map { address(at: $0)! } }
}
