import Foundation
import Glibc
import Synchronization
import TileStorage

/// What was deleted, in `.ziggurat-trash` of the library: a folder for each deletion, in it the archives and
/// sidecars under the paths that they had.
///
/// There is no journal: an archive is moved before its sidecar and comes back after it, each by one `rename`,
/// so that whenever the program ends an image is whole, with its words, or whole in the trash. A sidecar
/// alone shows nothing.
final class Trash: Sendable {
  static let folder = ".ziggurat-trash"

  /// One deletion.
  struct Deletion: Encodable {
    let id: String
    let images: [String]
    /// Seconds since 1970.
    let deleted: Int
    let expires: Int
  }

  private let library: Library
  /// Seconds.
  private let keeps: Int
  private let turn = Mutex<Void>(())

  init(_ library: Library, keeps: Int) { (self.library, self.keeps) = (library, keeps) }

  private var root: String { "\(library.root)/\(Self.folder)" }

  /// Moves images out of the library, durably.
  /// - Returns: the deletion, and the ids that are no image or whose tiles are loose files; nil where nothing
  ///   was deleted.
  func delete(_ ids: [String]) throws(StorageError) -> (deletion: Deletion?, refused: [String]) {
    try alone { () throws(StorageError) in
      let table = library.current
      let entries = ids.map { ($0, table.entry($0)) }
      let found = entries.compactMap(\.1).filter { !$0.path.hasSuffix(".dzi") }
      let refused = entries.filter { _, entry in entry.map { $0.path.hasSuffix(".dzi") } ?? true }.map(\.0)
      guard !found.isEmpty else { return (nil, refused) }
      let now = Int(Date().timeIntervalSince1970)
      let name = String(now, radix: 16) + "-" + String(UInt64.random(in: (1 << 60)...(.max)), radix: 16)
      var touched: Set<String> = [root]
      for entry in found {
        let source = parentFolder(entry.path)
        let target = parentFolder(trashed(entry.path, name))
        try FolderTree.make(target)
        let lock = try LockedFolder(source)
        try move(entry.path, trashed(entry.path, name))
        for sidecar in SidecarFile.paths(ofArchive: entry.path) where access(sidecar, F_OK) == 0 {
          try move(sidecar, trashed(sidecar, name))
        }
        _ = lock
        touched.formUnion([source, target])
      }
      try synchronize(touched)
      try library.renew(found.map { ($0.id, $0.path) })
      return (
        Deletion(id: name, images: found.map(\.id).sorted(), deleted: now, expires: now + keeps), refused
      )
    }
  }

  /// What can come back, the last deleted first.
  var deletions: [Deletion] {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: root) else { return [] }
    return names.compactMap { name in
      guard let time = Self.time(name) else { return nil }
      let images = paths(name).map { String($0.dropFirst(root.count + name.count + 2).dropLast(4)) }
      return images.isEmpty
        ? nil : Deletion(id: name, images: images.sorted(), deleted: time, expires: time + keeps)
    }.sorted { $0.deleted > $1.deleted }
  }

  /// Brings a deletion's images back.
  /// - Returns: those that are back, and those whose place another image has taken; nil where there is no such
  ///   deletion any more.
  func restore(_ name: String) throws(StorageError) -> (restored: [String], taken: [String])? {
    // Nothing that could be another path.
    guard let time = Self.time(name), time + keeps > Int(Date().timeIntervalSince1970) else { return nil }
    return try alone { () throws(StorageError) in
      let archives = paths(name)
      guard !archives.isEmpty else { return nil }
      var (restored, taken): ([(id: String, path: String)], [String]) = ([], [])
      var touched: Set<String> = [root]
      for archive in archives {
        let path = library.root + archive.dropFirst(root.count + name.count + 1)
        let id = String(path.dropFirst(library.root.count + 1).dropLast(4))
        try FolderTree.make(parentFolder(path))
        let lock = try LockedFolder(parentFolder(path))
        touched.formUnion([parentFolder(path), parentFolder(archive)])
        let sidecars = SidecarFile.paths(ofArchive: path)
        let hasWords = sidecars.contains { access($0, F_OK) == 0 }
        let isTaken = access(path, F_OK) == 0
        // Built again since, it keeps what it has and gets back the words.
        if !hasWords {
          for sidecar in sidecars where access(trashed(sidecar, name), F_OK) == 0 {
            try move(trashed(sidecar, name), sidecar)
          }
        }
        if isTaken, hasWords {
          taken.append(id)
          continue
        }
        if isTaken {
          guard unlink(archive) == 0 else { throw StorageError("remove \(archive)", errno: errno) }
        } else {
          try move(archive, path)
        }
        _ = lock
        restored.append((id, path))
      }
      try synchronize(touched)
      try library.renew(restored)
      if taken.isEmpty { discard(name) }
      return (restored.map(\.id).sorted(), taken.sorted())
    }
  }

  /// Removes for good what was kept for long enough, and what a killed program was removing.
  func purge() {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: root) else { return }
    let now = Int(Date().timeIntervalSince1970)
    for name in names {
      if name.hasPrefix(Self.discarded) { try? FileManager.default.removeItem(atPath: "\(root)/\(name)") }
      if let time = Self.time(name), time + keeps <= now { discard(name) }
    }
  }

  private static let discarded = "discarded-"

  /// First of another name, so that nobody restores half of it.
  private func discard(_ name: String) {
    let gone = "\(root)/\(Self.discarded)\(name)"
    if rename("\(root)/\(name)", gone) == 0 { try? FileManager.default.removeItem(atPath: gone) }
  }

  /// When a deletion of that name was; nil for any other name.
  private static func time(_ name: String) -> Int? {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].count == 16,
      name.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) || $0 == 0x2d })
    else { return nil }
    return Int(parts[0], radix: 16)
  }

  /// The archives of a deletion.
  private func paths(_ name: String) -> [String] {
    let folder = "\(root)/\(name)"
    guard let all = FileManager.default.enumerator(atPath: folder) else { return [] }
    return all.compactMap { $0 as? String }.filter { $0.hasSuffix(".szi") || $0.hasSuffix(".zip") }
      .map { "\(folder)/\($0)" }
  }

  private func trashed(_ path: String, _ name: String) -> String {
    "\(root)/\(name)" + path.dropFirst(library.root.count)
  }

  private func move(_ from: String, _ to: String) throws(StorageError) {
    guard rename(from, to) == 0 else { throw StorageError("move \(from)", errno: errno) }
  }

  private func synchronize(_ folders: Set<String>) throws(StorageError) {
    for folder in folders where access(folder, F_OK) == 0 {
      let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard descriptor >= 0 else { throw StorageError("open \(folder)", errno: errno) }
      defer { close(descriptor) }
      guard fsync(descriptor) == 0 else { throw StorageError("write \(folder)", errno: errno) }
    }
  }

  private func alone<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    let result: Swift.Result<Result, StorageError> = turn.withLock { _ in
      do throws(StorageError) { return .success(try body()) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
