import Foundation
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratObjectStore
import ZigguratTileExport

/// The result of an export of archives and libraries. It is the tiles of one archive at the output, or a folder for
/// each image below it, by its id.
struct ExportList {
  struct Item {
    let archive: String
    /// The library; links that lead out of it are refused.
    let enclosure: RootDirectory?
    let output: String
    /// The part of URLs behind the output's; nil for the output itself.
    let part: String?
    /// The bucket with the archive, if it is in an object store.
    var bucket: (library: ObjectLibrary, image: ObjectLibrary.Image)?

    /// Opens the archive for the duration of `body`.
    func withArchive<Result>(
      _ body: (TileArchive) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
      guard let bucket else { return try body(TileArchive(path: archive, within: enclosure)) }
      return try bucket.library.withCopy(of: bucket.image, body)
    }

    /// Whether its export has, or may have, a file or folder of this name directly in its folder.
    func holds(_ name: String, _ options: ExportOptions) -> Bool {
      let archive =
        if let bucket { bucket.image.image.archive() } else {
          try? TileArchive(path: archive, within: enclosure)
        }
      return archive.map { TileExporter.isName(name, inExportOf: $0, options) } ?? false
    }
  }

  private(set) var items: [Item] = []
  /// Errors about operands that are not in the list.
  private(set) var errors: [StorageError] = []
  /// Whether the only operand is one archive.
  let isOne: Bool
  /// The folder of all output; for one archive, the output itself.
  let root: String
  private var sources: [(archive: String, path: [UInt8])] = []

  init(_ operands: [String], output: String) {
    var output = output
    while output.count > 1, output.hasSuffix("/") { output.removeLast() }
    root = output
    isOne = operands.count == 1 && !Self.isFolder(operands[0]) && !ObjectLibrary.isMeant(by: operands[0])
    if isOne {
      items = [Item(archive: operands[0], enclosure: nil, output: output, part: nil)]
      sources = Self.sources(items)
      return
    }
    var owners: [ImageID: String] = [:]
    for operand in operands {
      do throws(StorageError) {
        for (id, archive, enclosure, bucket) in try Self.images(operand) {
          if let other = owners[id] {
            // The archive is given twice.
            if other == archive { continue }
            errors.append(StorageError("export \(archive)", "\(other) is called '\(id)', too"))
            continue
          }
          owners[id] = archive
          let parts = id.text.split(separator: "/").map { PercentEncoding.encode(String($0)) }
          items.append(
            Item(
              archive: archive, enclosure: enclosure, output: "\(output)/\(id)",
              part: parts.joined(separator: "/"), bucket: bucket))
        }
      } catch { errors.append(error) }
    }
    // Folders precede their content.
    items.sort { $0.output.utf8.lexicographicallyPrecedes($1.output.utf8) }
    sources = Self.sources(items)
  }

  /// Refuses images whose folders would have the names of other images' tiles: `c/1` if `c` has the level 1.
  mutating func refuseTileNames(_ options: ExportOptions) {
    let numbers = Dictionary(
      items.enumerated().map { ($1.output, $0) }, uniquingKeysWith: { first, _ in first })
    var refused: Set<Int> = []
    for (number, item) in items.enumerated() {
      var path = item.output
      while path.utf8.count > root.utf8.count {
        let folder = parentFolder(path)
        if let outer = numbers[folder], !refused.contains(outer),
          items[outer].holds(String(path.dropFirst(folder.count + 1)), options)
        {
          refused.insert(number)
          errors.append(
            StorageError(
              "export \(item.archive)",
              "\(path) has a file or folder of the layout \(options.layout.rawValue) of \(items[outer].archive); "
                + "export one of the two alone, to another folder"))
          break
        }
        path = folder
      }
    }
    items = items.enumerated().filter { !refused.contains($0.offset) }.map(\.element)
  }

  /// Whether an item's folder is inside that of an earlier one.
  func isWithinAnother(_ number: Int) -> Bool {
    let parts = items[number].output.utf8
    return items[..<number].contains {
      parts.starts(with: $0.output.utf8) && parts.dropFirst($0.output.utf8.count).first == UInt8(ascii: "/")
    }
  }

  /// Returns the archive of this list that a folder contains, or is. It is read, and must not be replaced. Archives
  /// that are one file are not checked, because no export writes them.
  func source(in folder: String) -> String? {
    guard let place = realpath(folder, nil) else { return nil }
    defer { free(place) }
    let bytes = String(cString: place).utf8
    return sources.first {
      $0.path.starts(with: bytes)
        && ($0.path.count == bytes.count || $0.path.dropFirst(bytes.count).first == UInt8(ascii: "/"))
    }?.archive
  }

  /// Returns the archives that are folders of files, with their paths without links.
  private static func sources(_ items: [Item]) -> [(archive: String, path: [UInt8])] {
    items.compactMap { item in
      guard item.bucket == nil, item.archive.hasSuffix(".dzi"), let path = realpath(item.archive, nil) else {
        return nil
      }
      defer { free(path) }
      return (item.archive, Array(String(cString: path).utf8))
    }
  }

  /// Returns the library that contains a path, existing or not; nil if no library contains it.
  static func library(around path: String) -> String? {
    var folder = URL(fileURLWithPath: path).standardizedFileURL
    while folder.path != "/" {
      if Catalog.exists(in: folder.resolvingSymlinksInPath().path) { return folder.path }
      folder.deleteLastPathComponent()
    }
    return nil
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Returns the images of a library, or the one of an archive.
  private static func images(
    _ path: String
  ) throws(StorageError) -> [(
    id: ImageID, archive: String, enclosure: RootDirectory?,
    bucket: (library: ObjectLibrary, image: ObjectLibrary.Image)?
  )] {
    if let library = try ObjectLibrary.named(path, report: Output.error) {
      _ = try library.refresh()
      let images = library.images()
      guard !images.isEmpty else { throw StorageError("export \(path)", "no archive is there") }
      return images.map { ($0.id, "\(path): \($0.id)", nil, (library, $0)) }
    }
    guard isFolder(path) else {
      guard let id = ImageID(String((path.split(separator: "/").last ?? "").dropLast(4))) else {
        throw StorageError("export \(path)", "its name is not an image id")
      }
      return [(id, path, nil, nil)]
    }
    let (table, enclosure) = (try LibraryTable(root: path, previous: nil), try RootDirectory(path))
    let images = table.ids.compactMap { id in table.entry(id).map { (id, $0.path) } }
    guard !images.isEmpty else { throw StorageError("export \(path)", "no archive is in this folder") }
    return images.map { ($0, $1, enclosure, nil) }
  }
}
