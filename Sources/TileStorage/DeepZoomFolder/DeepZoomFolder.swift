import Foundation
import Glibc
import TileGeometry
import ZigguratFiles

/// A Deep Zoom image as `vips dzsave` and other programs write it: `NAME.dzi` beside `NAME_files`.
struct DeepZoomFolder {
  let name: String
  let file: MappedFile
  let descriptor: DeepZoomDescriptor
  let tiles: FolderTiles
  /// A digest of the descriptor and of the modification time of each level's folder.
  let generation: UInt64

  /// - Parameters:
  ///   - path: the path of the descriptor.
  ///   - enclosure: as in `TileArchive`.
  init(path: String, within enclosure: RootDirectory?) throws(StorageError) {
    file = try MappedFile(path: path, keepsDescriptor: false, within: enclosure)
    descriptor = try DeepZoomDescriptor(xml: Data(file.bytes.prefix(InputLimit.descriptor.bytes + 1)))
    let folder = path.dropLast(4) + "_files"
    name = path.dropLast(4).split(separator: "/").last.map(String.init) ?? ""
    var enclosure = enclosure
    if enclosure == nil { enclosure = try RootDirectory(parentFolder(path)) }
    tiles = FolderTiles(
      folder: String(folder), within: enclosure!,
      fileExtension: descriptor.fileExtension, pyramid: descriptor.pyramid)
    var versions = [Int(truncatingIfNeeded: file.identity.inode), file.identity.modifiedNanoseconds]
    for level in 0..<descriptor.pyramid.levelCount {
      var status = stat()
      // A missing level is reported when one of its tiles is requested.
      if stat("\(folder)/\(level)", &status) == 0 {
        versions.append(FileIdentity(status).modifiedNanoseconds)
      }
    }
    generation = versions.withUnsafeBytes { Digest.of($0) } ^ Digest.of(file.bytes)
  }
}
