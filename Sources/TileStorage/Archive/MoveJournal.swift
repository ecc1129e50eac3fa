import Glibc
package import ZigguratFiles

/// The moves by which archives exchange their ids, written before the first of them. If the program is killed between
/// two moves, the next program that opens the library makes the others.
///
/// The file `.moved/.exchange` exists while they are made. For each move, it contains the old id, the new one and the
/// archive's inode number, each with a NUL behind it. Names of `IDRedirects` have other extensions. The folder is
/// locked meanwhile.
package final class MoveJournal {
  package struct Move: Hashable, Sendable {
    package let old: ImageID
    package let new: ImageID

    package init(_ old: ImageID, to new: ImageID) {
      self.old = old
      self.new = new
    }
  }

  /// A move with the inode number of its archive, which no move changes.
  private struct Entry {
    let move: Move
    let inode: UInt64
  }

  private let library: String
  private let lock: DirectoryLock
  private let entries: [Entry]

  /// The maximum size of such a file in bytes.
  private static let maxLength = 64 << 20

  /// Writes the moves of one exchange durably. The first move makes room under an id that no source has.
  package init(_ moves: [Move], in library: String) throws(StorageError) {
    self.library = library
    try RootDirectory(library).make(Self.folder(library))
    lock = try DirectoryLock(Self.folder(library))
    var inodes: [ImageID: UInt64] = [:]
    entries = try moves.map { (move) throws(StorageError) in
      guard let inode = inodes[move.old] ?? Self.inode(move.old, library) else {
        throw StorageError("move \(move.old)", "it is not there")
      }
      inodes[move.new] = inode
      return Entry(move: move, inode: inode)
    }
    let file = try AtomicFile(destination: Self.path(library))
    try file.write(
      entries.flatMap { entry in
        [entry.move.old.text, entry.move.new.text, String(entry.inode)].flatMap { Array($0.utf8) + [0] }
      })
    try file.publish()
    try lock.synchronize()
  }

  private init(reading library: String, _ lock: DirectoryLock) {
    self.library = library
    self.lock = lock
    entries = Self.read(library) ?? []
  }

  /// Removes the journal.
  package func end() {
    unlink(Self.path(library))
    try? lock.synchronize()
  }

  /// Makes the moves that a killed program left; waits for a program that makes its own.
  package static func finish(in library: String) throws(StorageError) {
    guard access(path(library), F_OK) == 0 else { return }
    let journal = MoveJournal(reading: library, try DirectoryLock(folder(library)))
    try journal.finish()
    journal.end()
  }

  private func finish() throws(StorageError) {
    for entry in entries {
      if holds(entry.move.old, entry.inode) {
        _ = try ArchiveMove(entry.move.old, to: entry.move.new, in: library).run(pageName: nil)
      } else if holds(entry.move.new, entry.inode) {
        ArchiveMove.removeLeftMetadata(of: entry.move.old, movedTo: entry.move.new, in: library)
      }
    }
    // A file in the way came later: the archive gets its own id back, if that is free.
    if let first = entries.first, holds(first.move.new, first.inode) {
      _ = try ArchiveMove(first.move.new, to: first.move.old, in: library).run(pageName: nil)
    }
  }

  private func holds(_ id: ImageID, _ inode: UInt64) -> Bool { Self.inode(id, library) == inode }

  private static func inode(_ id: ImageID, _ library: String) -> UInt64? {
    var status = stat()
    return lstat(id.archive(in: library), &status) == 0 ? UInt64(status.st_ino) : nil
  }

  private static func folder(_ library: String) -> String { "\(library)/\(IDRedirects.name)" }

  private static func path(_ library: String) -> String { "\(folder(library))/.exchange" }

  /// Returns the moves that are left; nil if the file is not a journal.
  private static func read(_ library: String) -> [Entry]? {
    guard let file = SidecarFile(path: path(library)), file.identity.size <= maxLength,
      let bytes = try? file.contents(atMost: maxLength, within: RootDirectory(library)), bytes.last == 0
    else { return nil }
    let fields = bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false)
    guard fields.count % 3 == 0 else { return nil }
    var entries: [Entry] = []
    for start in stride(from: 0, to: fields.count, by: 3) {
      let texts = fields[start..<start + 3].map { String(validating: $0, as: UTF8.self) ?? "" }
      guard let old = ImageID(texts[0]), let new = ImageID(texts[1]), let inode = UInt64(texts[2]),
        !old.isHidden, !new.isHidden
      else { return nil }
      entries.append(Entry(move: Move(old, to: new), inode: inode))
    }
    return entries
  }
}
