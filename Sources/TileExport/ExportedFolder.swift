import Foundation
import Glibc
import TileStorage
import ZigguratFiles

/// A check for a folder that an earlier export wrote, by the names of its files. Any other file may be the only copy,
/// and is never replaced.
enum ExportedFolder {
  /// Returns the path of a file below a folder that no export writes, or the folder's path if it is not an export. Nil
  /// if an export wrote all of it, or it is empty.
  static func foreignFile(in folder: String) -> String? {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder).sorted() else {
      return folder
    }
    if names.isEmpty { return nil }
    let descriptors = names.compactMap { name in Kind(descriptor: name).map { (name, $0) } }
    guard let (descriptor, kind) = descriptors.first, isFile("\(folder)/\(descriptor)") else {
      // A folder that contains exports, such as `a` if `a/b` is an export.
      return foreignFile(ofFolders: names, in: folder)
    }
    for name in names where name != descriptor {
      let path = "\(folder)/\(name)"
      guard isFolder(path) else { return path }
      guard kind.isOfTiles(name) else {
        if let file = foreignFile(in: path) { return file }
        continue
      }
      // An image inside may have a name that tiles of larger images have.
      if let file = foreignFile(in: path, below: [name], kind), foreignFile(in: path) != nil { return file }
    }
    return nil
  }

  private static func foreignFile(ofFolders names: [String], in folder: String) -> String? {
    for name in names {
      let path = "\(folder)/\(name)"
      guard isFolder(path) else { return path }
      if let file = foreignFile(in: path) { return file }
    }
    return nil
  }

  /// - Parameter parts: the names of the folders from the export's own to this one.
  private static func foreignFile(in folder: String, below parts: [String], _ kind: Kind) -> String? {
    guard parts.count < 8, let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      return folder
    }
    for name in names {
      let path = "\(folder)/\(name)"
      if kind.holdsTile(parts + [name]) {
        guard isFile(path) else { return path }
      } else {
        guard isFolder(path) else { return path }
        if let file = foreignFile(in: path, below: parts + [name], kind) { return file }
      }
    }
    return nil
  }

  private static func isFile(_ path: String) -> Bool { kind(path) == S_IFREG }

  private static func isFolder(_ path: String) -> Bool { kind(path) == S_IFDIR }

  private static func kind(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  /// The layout of an export, with the name of its image if files have it.
  private enum Kind {
    case deepZoom(String)
    case zoomify, xyz, iiif

    init?(descriptor name: String) {
      switch name {
      case "ImageProperties.xml": self = .zoomify
      case "tilejson.json": self = .xyz
      case "info.json": self = .iiif
      default:
        guard name.hasSuffix(".dzi") else { return nil }
        self = .deepZoom(String(name.dropLast(4)))
      }
    }

    /// Whether a folder beside the descriptor contains tiles.
    func isOfTiles(_ name: String) -> Bool {
      switch self {
      case .deepZoom(let image): name == "\(image)_files"
      case .zoomify: name.hasPrefix("TileGroup") && Self.areNumbers(name.dropFirst(9), 1)
      case .xyz: Self.areNumbers(name[...], 1)
      case .iiif: name == "full" || Self.areNumbers(name[...], 4, between: ",")
      }
    }

    /// Whether a path below the export is a tile's path.
    func holdsTile(_ parts: [String]) -> Bool {
      guard let (stem, ending) = parts.last.flatMap(Self.split), TileFormat(fileExtension: ending) != nil
      else {
        return false
      }
      return switch self {
      case .deepZoom:
        parts.count == 3 && Self.areNumbers(parts[1][...], 1) && Self.areNumbers(stem, 2, between: "_")
      case .zoomify: parts.count == 2 && Self.areNumbers(stem, 3, between: "-")
      case .xyz: parts.count == 3 && Self.areNumbers(parts[1][...], 1) && Self.areNumbers(stem, 1)
      case .iiif:
        parts.count == 4 && (parts[1] == "max" || Self.areNumbers(parts[1][...], 2, between: ","))
          && parts[2] == "0" && stem == "default"
      }
    }

    private static func split(_ name: String) -> (stem: Substring, ending: String)? {
      name.lastIndex(of: ".").map { (name[..<$0], String(name[name.index(after: $0)...])) }
    }

    private static func areNumbers(
      _ text: Substring, _ count: Int, between separator: Character = ","
    ) -> Bool {
      let parts = text.split(separator: separator, omittingEmptySubsequences: false)
      return parts.count == count
        && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }
  }
}
