import Glibc
import Synchronization
import TileStorage
package import ZigguratFiles

/// The images in a library's folders at one time point.
package struct LibraryTable: Sendable {
  /// A folder's change time when it was read.
  private struct Folder {
    let path: String
    let disk: Disk
    let inode: UInt64
    var modified: Int
    /// The time until which all changes are known one by one, in nanoseconds since 1970.
    var watchedUntil = 0
    /// Whether the folder was read so soon after its last change that a later change may have the same time.
    let isUncertain: Bool

    /// Whether this is the folder that was read, and not one mounted over it or uncovered below it.
    func isSame(_ status: stat) -> Bool {
      UInt64(status.st_dev) == disk.device && UInt64(status.st_ino) == inode
    }
  }

  /// The disk that a folder is on. Two mounts of one file system, as by `mount --bind`, have the same device.
  struct Disk: Hashable {
    let device: UInt64
    let mount: UInt64
  }

  /// The ids, sorted.
  package private(set) var ids: [ImageID] = []
  private(set) var entries: [LibraryEntry] = []
  /// A hash table over the ids, with open addressing; -1 is free.
  private var slots: [Int32] = []
  private var folders: [Folder] = []
  private var sidecars: [SidecarFile] = []
  /// Folders on disks of their own that are not mounted now, with their former disks. Their images stay listed.
  private(set) var unmounted: [String: Disk] = [:]
  /// The disk of the library's own folder.
  private var rootDisk: Disk?
  /// Folders that this process cannot read. Their images are not listed.
  package private(set) var unreadableFolders: [String] = []
  /// The watch of all folders; nil if they are polled instead.
  private(set) var watch: FolderWatcher?

  /// The library's folder; nil for a source.
  private var enclosure: RootDirectory?

  /// The identity of a library's folder.
  struct Root: Hashable {
    let device: UInt64
    let inode: UInt64

    init(_ status: stat) { (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino)) }
  }

  /// The folder that was read; nil for a source.
  private(set) var rootFolder: Root?

  /// Whether the path leads to the folder that was read.
  func isRoot(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && Root(status) == rootFolder
  }

  /// The version of the source that was read; nil for a folder.
  private(set) var version: Int?

  /// - Parameter watches: whether the kernel reports changes, if it can.
  package init(root: String, previous: LibraryTable?, watches: Bool = false) throws(StorageError) {
    if watches { watch = FolderWatcher(root: root) }
    do throws(StorageError) { enclosure = try RootDirectory(root) } catch {
      throw error.during("open the library \(root)")
    }
    var found: [(id: ImageID, entry: LibraryEntry)] = []
    try scan(root, "", previous, 0, &found)
    if watch?.isWhole == false { watch = nil }
    if let previous { keepUnmounted(previous, &found) }
    take(&found)
  }

  /// Keeps the images of folders that were on another disk before and have no images now.
  private mutating func keepUnmounted(
    _ previous: LibraryTable, _ found: inout [(id: ImageID, entry: LibraryEntry)]
  ) {
    var disks = previous.unmounted
    for folder in previous.folders where folder.disk != previous.rootDisk { disks[folder.path] = folder.disk }
    guard !disks.isEmpty else { return }
    for folder in folders {
      // Without its folder a disk has no mount point, so its images are gone.
      guard let disk = disks[folder.path], disk != folder.disk,
        !found.contains(where: { Self.isPath($0.entry.path, below: folder.path) })
      else { continue }
      let kept = previous.entries.filter { Self.isPath($0.path, below: folder.path) }
      guard !kept.isEmpty else { continue }
      found += kept.map { ($0.id, $0) }
      unmounted[folder.path] = disk
    }
  }

  private static func isPath(_ path: String, below folder: String) -> Bool {
    path.utf8.starts(with: folder.utf8) && path.utf8.dropFirst(folder.utf8.count).first == UInt8(ascii: "/")
  }

  /// Whether a file lies on a disk that is not mounted now.
  func isUnmounted(_ path: String) -> Bool { unmounted.keys.contains { Self.isPath(path, below: $0) } }

  package init(_ source: any LibrarySource, previous: LibraryTable?) throws(StorageError) {
    version = try source.version()
    var found: [(id: ImageID, entry: LibraryEntry)] = []
    for image in try source.images() {
      // The file was removed after it was listed.
      guard let identity = image.identity ?? FileIdentity(path: image.path) else { continue }
      let sidecar = image.sidecar.flatMap { SidecarFile(path: $0.path) }
      if let old = previous?.entry(image.id), old.identity == identity, old.path == image.path,
        old.sidecar == sidecar
      {
        found.append((image.id, old))
      } else {
        found.append((image.id, LibraryEntry(image, identity: identity, sidecar: sidecar)))
      }
    }
    take(&found)
  }

  private mutating func take(_ found: inout [(id: ImageID, entry: LibraryEntry)]) {
    found.sort { $0.id < $1.id }
    ids = found.map(\.id)
    entries = found.map(\.entry)
    fillSlots()
  }

  /// Creates an entry for a file in the library's folders.
  package func entry(
    id: ImageID, path: String, identity: FileIdentity, sidecar: SidecarFile?
  ) -> LibraryEntry {
    LibraryEntry(id: id, path: path, identity: identity, sidecar: sidecar, within: enclosure)
  }

  /// Returns the bytes of a file in the library's folders; nil if it cannot be read, and for a source. Links out of the
  /// folders are not followed.
  package func bytes(ofFile path: String, atMost most: Int) -> [UInt8]? {
    guard let enclosure else { return nil }
    return try? SidecarFile(path: path)?.contents(atMost: most, within: enclosure)
  }

  package func entry(_ id: ImageID) -> LibraryEntry? { id.withBytes { entry($0) } }

  /// Returns the entry of an id, as the bytes of a request. Invalid ids are not in the table, so a tile needs no
  /// string.
  package func entry(_ id: UnsafeRawBufferPointer) -> LibraryEntry? { index(id).map { entries[$0] } }

  /// Returns the index of an id in `ids`.
  package func index(_ id: UnsafeRawBufferPointer) -> Int? {
    let mask = slots.count - 1
    var slot = Self.hash(id) & mask
    while slots[slot] >= 0 {
      let number = Int(slots[slot])
      if Self.isSame(ids[number].text, id) { return number }
      slot = (slot + 1) & mask
    }
    return nil
  }

  /// Whether a text has these bytes. Compares in place, because `elementsEqual` takes 60 instructions for each byte of
  /// a string.
  private static func isSame(_ text: String, _ bytes: UnsafeRawBufferPointer) -> Bool {
    let isSame = text.utf8.withContiguousStorageIfAvailable { text in
      guard text.count == bytes.count else { return false }
      guard let one = text.baseAddress, let other = bytes.baseAddress else { return bytes.isEmpty }
      return memcmp(one, other, bytes.count) == 0
    }
    return isSame ?? text.utf8.elementsEqual(bytes)
  }

  /// Whether the folder has images, at any depth, or the book has pages.
  package func hasImages(below id: ImageID) -> Bool {
    let folder = id.text + "/"
    let at = ids.partitioningIndex { $0.follows(folder) }
    return at < ids.count && ids[at].isBelow(id)
  }

  /// Whether a folder has changed since it was read.
  var haveFoldersChanged: Bool {
    hasChangedSidecar
      || folders.contains { folder in
        var status = stat()
        return stat(folder.path, &status) != 0 || folder.isUncertain
          || FileIdentity(status).modifiedNanoseconds != folder.modified
      }
  }

  /// Whether a sidecar has changed. A program that writes into a sidecar does not change its folder's time. If there
  /// are very many sidecars, each call checks some of them.
  private var hasChangedSidecar: Bool {
    let most = 2000
    let start = sidecars.count <= most ? 0 : Int.random(in: 0..<sidecars.count)
    return (0..<min(most, sidecars.count)).contains { sidecars[(start + $0) % sidecars.count].hasChanged }
  }

  /// Waits until a folder may have changed: for a second, or until the kernel reports a change.
  func waitForChange() {
    if let watch { watch.wait(milliseconds: 1000) } else { sleep(1) }
  }

  package static var now: Int {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return now.tv_sec * 1_000_000_000 + now.tv_nsec
  }

  /// Notes that all changes of these folders until now are known.
  /// - Returns: false if another folder has changed without a report of the watch.
  package mutating func accept(_ watched: Set<String>) -> Bool {
    let now = Self.now
    for at in folders.indices {
      if watched.contains(folders[at].path) { folders[at].watchedUntil = now }
      var status = stat()
      // A mounted folder may be older than the last check.
      guard stat(folders[at].path, &status) == 0, folders[at].isSame(status) else { return false }
      let (folder, modified) = (folders[at], FileIdentity(status).modifiedNanoseconds)
      // The report may come shortly after the change.
      let isKnown = modified == folder.modified || modified <= folder.watchedUntil
      if !isKnown, now - modified > 2_000_000_000 { return false }
    }
    return true
  }

  /// Applies changes of images without reading folders. A nil entry removes its image.
  package mutating func replace(_ changes: [ImageID: LibraryEntry?]) {
    // For so many changes it is faster to sort everything once.
    guard changes.count <= 64 else {
      var found = zip(ids, entries).filter { changes[$0.0] == nil }.map { (id: $0.0, entry: $0.1) }
      for (id, entry) in changes { if let entry { found.append((id, entry)) } }
      take(&found)
      sidecars = entries.compactMap(\.sidecar)
      return
    }
    for (id, entry) in changes {
      let at = id.withBytes { index($0) }
      if let at, let old = entries[at].sidecar { sidecars.removeAll { $0 == old } }
      if let new = entry?.sidecar { sidecars.append(new) }
      switch (at, entry) {
      case (let at?, let entry?): entries[at] = entry
      case (let at?, nil): remove(at)
      case (nil, let entry?): insert(id, entry)
      case (nil, nil): break
      }
    }
  }

  private mutating func insert(_ id: ImageID, _ entry: LibraryEntry) {
    let at = ids.partitioningIndex { $0 >= id }
    ids.insert(id, at: at)
    entries.insert(entry, at: at)
    guard ids.count * 2 <= slots.count else { return fillSlots() }
    shift(from: at, by: 1)
    place(at)
  }

  private mutating func remove(_ at: Int) {
    let mask = slots.count - 1
    var hole = home(at)
    while slots[hole] != Int32(at) { hole = (hole + 1) & mask }
    // Entries that the removed one had displaced move up (Knuth, 6.4, algorithm R).
    var slot = (hole + 1) & mask
    while slots[slot] >= 0 {
      if (slot - home(Int(slots[slot]))) & mask >= (slot - hole) & mask {
        slots[hole] = slots[slot]
        hole = slot
      }
      slot = (slot + 1) & mask
    }
    slots[hole] = -1
    ids.remove(at: at)
    entries.remove(at: at)
    shift(from: at + 1, by: -1)
  }

  private mutating func shift(from first: Int, by step: Int32) {
    let first = Int32(first)
    slots.withUnsafeMutableBufferPointer { slots in
      for slot in slots.indices where slots[slot] >= first { slots[slot] += step }
    }
  }

  private func home(_ number: Int) -> Int {
    ids[number].withBytes(Self.hash) & (slots.count - 1)
  }

  private mutating func place(_ number: Int) {
    var slot = home(number)
    while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = Int32(number)
  }

  private mutating func fillSlots() {
    var capacity = 16
    // With room for more images.
    while capacity < ids.count * 3 { capacity *= 2 }
    slots = Array(repeating: -1, count: capacity)
    for number in ids.indices { place(number) }
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    return Int(truncatingIfNeeded: hash >> 8)
  }

  /// The file extensions of images, in order of precedence among files with the same name.
  private static let endings = [".szi", ".dzi", ".zip"]

  private mutating func scan(
    _ folder: String, _ prefix: String, _ previous: LibraryTable?, _ depth: Int,
    _ found: inout [(id: ImageID, entry: LibraryEntry)]
  ) throws(StorageError) {
    var status = stat()
    guard stat(folder, &status) == 0 else {
      if depth > 0 { return }
      throw StorageError("open the library \(folder)", errno: errno)
    }
    // Without the right to search it, a file would be reported as another user's folder.
    guard depth > 0 || status.st_mode & S_IFMT == S_IFDIR else {
      throw StorageError("open the library \(folder)", errno: ENOTDIR)
    }
    watch?.add(folder, device: status.st_dev)
    guard access(folder, X_OK) == 0, let directory = opendir(folder) else {
      let code = errno
      guard depth > 0 else { throw StorageError("open the library \(folder)", errno: code) }
      // Any other error means that the folder was removed after its name was read.
      if code == EACCES { unreadableFolders.append(folder) }
      return
    }
    defer { closedir(directory) }
    // Again, because the watch may have waited.
    fstat(dirfd(directory), &status)
    let disk = Disk(device: UInt64(status.st_dev), mount: Mount.number(of: dirfd(directory)))
    if depth == 0 { (rootFolder, rootDisk) = (Root(status), disk) }
    let modified = FileIdentity(status).modifiedNanoseconds
    let age = Self.now - modified
    folders.append(
      Folder(
        path: folder, disk: disk, inode: UInt64(status.st_ino), modified: modified,
        isUncertain: abs(age) < 100_000_000))
    var images: [ImageID: String] = [:]
    var subfolders: [String] = []
    var sidecarNames: Set<String> = []
    var tileFolders: Set<String> = []
    while let entry = readdir(directory) {
      // The names of partial and hidden files begin with a dot.
      guard let name = entry.pointee.name, name.utf8.first != UInt8(ascii: ".") else { continue }
      // A folder named `a.dzi` does not make `a_files` a folder of tiles.
      if !entry.pointee.isFolder,
        let ending = Self.endings.first(where: { name.hasSuffix($0) && name.utf8.count > 4 })
      {
        let base = String(name.dropLast(4))
        if ending == ".dzi" { tileFolders.insert(base + "_files") }
        guard let id = ImageID(prefix + base) else { continue }
        // An archive of this program takes precedence over the file that it may have been made from.
        let other = images[id].flatMap { Self.endings.firstIndex(of: $0) } ?? .max
        if Self.endings.firstIndex(of: ending)! < other { images[id] = ending }
      }
      if name.hasSuffix(SidecarFile.ending) { sidecarNames.insert("\(folder)/\(name)") }
      if entry.pointee.isFolder { subfolders.append(name) }
    }
    for (id, ending) in images {
      let path = "\(folder)/\(id.name)\(ending)"
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      let identity = FileIdentity(status)
      let sidecar =
        sidecarNames.isEmpty ? nil : SidecarFile(ofArchive: path) { sidecarNames.contains($0) }
      if let sidecar { sidecars.append(sidecar) }
      if let old = previous?.entry(id), old.identity == identity, old.path == path, old.sidecar == sidecar {
        found.append((id, old))
      } else {
        found.append((id, entry(id: id, path: path, identity: identity, sidecar: sidecar)))
      }
    }
    // Folders of tiles are vast and contain no images of their own.
    for name in subfolders where depth < 64 && !tileFolders.contains(name) {
      // Its ids would be those of private spaces.
      if depth == 0, name == "~" { continue }
      try scan("\(folder)/\(name)", prefix + name + "/", previous, depth + 1, &found)
    }
  }
}
