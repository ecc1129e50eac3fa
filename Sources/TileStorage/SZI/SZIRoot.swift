import Foundation
import TileGeometry
import ZigguratFiles

/// The parts of an archive's entry names: the one root folder, its descriptor, and the tiles' folder.
struct SZIRoot {
  let name: String
  let descriptor: DeepZoomDescriptor
  /// The start of all names: `NAME/`.
  private let prefix: [UInt8]
  /// The tiles' folder behind the prefix: `NAME_files/`.
  private let tiles: [UInt8]
  private static let action = "read the archive"

  /// - Parameter data: returns the bytes of an entry; nil if they cannot be read.
  init(
    _ directory: ZIPDirectory, _ data: (ZIPDirectory.Entry) -> UnsafeRawBufferPointer?
  ) throws(StorageError) {
    let found = try Self.findDescriptor(directory)
    guard found.entry.size <= InputLimit.descriptor.bytes else {
      throw StorageError(Self.action, "its descriptor has \(found.entry.size) bytes, too many")
    }
    guard found.entry.isPlain, let bytes = data(found.entry) else {
      throw StorageError(Self.action, "its descriptor cannot be read")
    }
    name = String(decoding: found.folder, as: UTF8.self)
    descriptor = try DeepZoomDescriptor(xml: Data(bytes))
    prefix = found.folder + "/".utf8
    tiles = found.folder + "_files/".utf8
  }

  /// Finds the first `NAME/NAME.dzi`.
  static func findDescriptor(
    _ directory: ZIPDirectory
  ) throws(StorageError) -> (folder: [UInt8], entry: ZIPDirectory.Entry) {
    var found: (folder: [UInt8], entry: ZIPDirectory.Entry)?
    try directory.forEntries { (entry) throws(StorageError) in
      guard found == nil, let folder = folder(ofDescriptor: entry.name) else { return }
      found = (folder, entry)
    }
    guard let found else { throw StorageError(action, "it holds no NAME/NAME.dzi") }
    return found
  }

  /// Returns `NAME` of `NAME/NAME.dzi`, else nil. Bytes, because old ZIP programs write names that are not UTF-8.
  private static func folder(ofDescriptor entry: UnsafeRawBufferPointer) -> [UInt8]? {
    guard let slash = entry.firstIndex(of: UInt8(ascii: "/")), slash > 0 else { return nil }
    let folder = entry[..<slash]
    let rest = entry[(slash + 1)...]
    guard rest.starts(with: folder), rest.dropFirst(folder.count).elementsEqual(".dzi".utf8) else {
      return nil
    }
    return Array(folder)
  }

  /// Returns the entry's name relative to the root folder; nil for an entry outside it.
  func relativeName(_ entry: UnsafeRawBufferPointer) -> String? {
    guard entry.starts(with: prefix) else { return nil }
    return String(decoding: entry.dropFirst(prefix.count), as: UTF8.self)
  }

  /// Returns the address in `NAME/NAME_files/LEVEL/COLUMN_ROW.EXT`, with numbers without sign or leading zero; else
  /// nil.
  func tileAddress(ofName entry: UnsafeRawBufferPointer) -> TileAddress? {
    guard entry.starts(with: prefix), entry.dropFirst(prefix.count).starts(with: tiles) else { return nil }
    var at = prefix.count + tiles.count
    guard let level = number(entry, &at, until: UInt8(ascii: "/")),
      let column = number(entry, &at, until: UInt8(ascii: "_")),
      let row = number(entry, &at, until: UInt8(ascii: ".")),
      entry.dropFirst(at).elementsEqual(descriptor.fileExtension.utf8)
    else { return nil }
    return TileAddress(level: level, column: column, row: row)
  }

  /// Returns the name of a tile, the inverse of `tileAddress(ofName:)`.
  func name(ofTile address: TileAddress) -> [UInt8] {
    prefix + tiles + "\(address.level)/\(address.column)_\(address.row).\(descriptor.fileExtension)".utf8
  }

  private func number(_ text: UnsafeRawBufferPointer, _ at: inout Int, until end: UInt8) -> Int? {
    let start = at
    var value = 0
    while at < text.count, case let digit = text[at] &- UInt8(ascii: "0"), digit <= 9, at - start < 12 {
      value = value * 10 + Int(digit)
      at += 1
    }
    guard at > start, at < text.count, text[at] == end else { return nil }
    guard at - start == 1 || text[start] != UInt8(ascii: "0") else { return nil }
    at += 1
    return value
  }
}
