import Glibc
import Synchronization
import TileGeometry
import ZigguratFiles

/// Tiles that are separate files, `NAME_files/LEVEL/COLUMN_ROW.EXT`. Each is mapped on its first request and stays
/// mapped, so that a slice of it is valid as long as its archive.
///
/// Files are checked on each request: a file that was replaced or overwritten is mapped again.
final class FolderTiles: Sendable {
  private struct State {
    var current: [Int: MappedFile] = [:]
    /// Former tile files with slices that were returned.
    var former: [MappedFile] = []
  }

  private let folder: String
  private let enclosure: RootDirectory
  private let fileExtension: String
  private let pyramid: Pyramid
  /// The maximum size of a tile in bytes.
  private let maxTileSize: Int
  let levels: LevelSet
  /// The amount by which Deep Zoom's numbers of the levels exceed their folders' names.
  private let offset: Int
  /// The time at which a level was last added or removed, in nanoseconds since 1970.
  private let changed: Int
  private let isUncertain: Bool
  private let mapped = Mutex(State())
  /// The number of mapped files of one archive above which it is reopened.
  private static let maximum = 1024
  /// The same if the process has many mapped files: unread responses keep everything that their archives mapped.
  private static let mostAmongMany = 4

  /// Finds the existing levels.
  init(folder: String, within enclosure: RootDirectory, fileExtension: String, pyramid: Pyramid) {
    self.folder = folder
    self.enclosure = enclosure
    self.fileExtension = fileExtension
    self.pyramid = pyramid
    maxTileSize = InputLimit.bytes(ofTileSide: pyramid.tileSize + 2 * pyramid.overlap)
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    changed = Self.identity(folder)?.modifiedNanoseconds ?? 0
    // Another change may have the same time.
    isUncertain = abs(now.tv_sec * 1_000_000_000 + now.tv_nsec - changed) < 100_000_000
    var found = LevelSet.none
    var hasMore = false
    for level in 0..<pyramid.levelCount {
      let names = Self.tiles(in: "\(folder)/\(level)", fileExtension)
      if names.isAny { found.insert(level) }
      if names.isAnyButFirst { hasMore = true }
    }
    // Level 0 alone may also be an incomplete copy.
    let isWhole = hasMore || pyramid.finestSingleTileLevel == pyramid.topLevel
    offset = isWhole ? found.offset(in: pyramid) : 0
    levels = found.raised(by: offset)
  }

  /// Whether a folder contains tiles, and others than that of column 0 and row 0.
  private static func tiles(in folder: String, _ fileExtension: String) -> (isAny: Bool, isAnyButFirst: Bool)
  {
    guard let directory = opendir(folder) else { return (false, false) }
    defer { closedir(directory) }
    var isAny = false
    while let entry = readdir(directory) {
      guard let name = entry.pointee.name, name.hasSuffix("." + fileExtension) else { continue }
      if !name.hasPrefix("0_0.") { return (true, true) }
      isAny = true
    }
    return (isAny, false)
  }

  private static func identity(_ path: String) -> FileIdentity? {
    var status = stat()
    return stat(path, &status) == 0 ? FileIdentity(status) : nil
  }

  func numbersOfTiles() -> [Int]? {
    let grid = TileGrid(pyramid)
    var all: [Int] = []
    for level in 0..<pyramid.levelCount {
      guard let directory = opendir("\(folder)/\(level - offset)") else { continue }
      defer { closedir(directory) }
      var numbers: [Int] = []
      while let entry = readdir(directory) {
        guard let name = entry.pointee.name, name.hasSuffix(".\(fileExtension)") else { continue }
        let place = name.dropLast(fileExtension.count + 1).split(separator: "_").map { Int($0) }
        if place.count == 2, let column = place[0], let row = place[1],
          let number = grid.index(level: level, column: column, row: row)
        {
          numbers.append(number)
        }
      }
      all += numbers.sorted()
    }
    return all
  }

  private var mappedCount: Int { mapped.withLock { $0.current.count + $0.former.count } }

  private func path(_ number: Int) -> String? {
    pyramid.address(at: number).map {
      "\(folder)/\($0.level - offset)/\($0.column)_\($0.row).\(fileExtension)"
    }
  }

  private func file(_ number: Int, _ path: String) throws(StorageError) -> MappedFile {
    var status = stat()
    guard stat(path, &status) == 0 else { throw StorageError("open \(path)", errno: errno) }
    let identity = FileIdentity(status)
    if let file = mapped.withLock({ $0.current[number] }), file.identity == identity { return file }
    guard identity.size <= maxTileSize else { throw StorageError("open \(path)", "too large for a tile") }
    let file = try MappedFile(path: path, keepsDescriptor: false, within: enclosure)
    guard file.identity.size <= maxTileSize else {
      throw StorageError("open \(path)", "too large for a tile")
    }
    // Two threads may have mapped it: the first mapping stays.
    return mapped.withLock { mapped in
      if let other = mapped.current[number] {
        if other.identity == file.identity { return other }
        mapped.former.append(other)
      }
      mapped.current[number] = file
      return file
    }
  }
}

extension FolderTiles: TileBacking {
  func tile(_ number: Int) -> StoredTile {
    guard let path = path(number) else { return .unreadable }
    do throws(StorageError) {
      let file = try file(number, path)
      return .here(file.bytes, version: Self.version(file.identity))
    } catch {
      return switch error.kind {
      case .notFound: isLeftOut(number) ? .notFound : .unreadable
      case .unreachable: .unreachable
      case .unreadable: .unreadable
      }
    }
  }

  func copy(ofTile number: Int, _ action: String) throws(StorageError) -> [UInt8]? {
    guard let path = path(number) else { throw StorageError(action, "it is outside the pyramid") }
    do throws(StorageError) {
      return try MappedFile.contents(path: path, atMost: maxTileSize, within: enclosure)
    } catch {
      if error.kind == .notFound, isLeftOut(number) { return nil }
      throw error.during(action)
    }
  }

  /// Whether the program that wrote the archive omitted a missing tile.
  private func isLeftOut(_ number: Int) -> Bool {
    guard let level = pyramid.address(at: number)?.level else { return false }
    return levels.contains(level) || level < levels.coarsest
  }

  func version(ofTile number: Int) -> UInt64? { path(number).flatMap(Self.identity).map(Self.version) }

  private static func version(_ file: FileIdentity) -> UInt64 {
    [Int(truncatingIfNeeded: file.inode), file.size, file.modifiedNanoseconds].withUnsafeBytes {
      Digest.of($0)
    }
  }

  var hasTileVersions: Bool { true }

  /// Whether the image should be reopened. Each mapped file takes a place in the process's map. A new level may change
  /// the meaning of the others' names.
  var shouldReopen: Bool {
    mappedCount > (MappedFile.areMany ? Self.mostAmongMany : Self.maximum) || isUncertain
      || Self.identity(folder)?.modifiedNanoseconds ?? 0 != changed
  }
}
