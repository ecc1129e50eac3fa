import Glibc
import Synchronization
import TileStorage

/// What was in a library's folders at one moment.
struct LibraryTable: Sendable {
  /// A folder's change time when it was read.
  private struct Folder {
    let path: String
    let modified: Int
    /// Read so soon after its last change that another change may bear the same time.
    let isUncertain: Bool
  }

  /// Sorted.
  private(set) var ids: [String] = []
  private(set) var entries: [LibraryEntry] = []
  /// Open addressing over the ids' hashes; -1 is free.
  private var slots: [Int32] = []
  private var folders: [Folder] = []
  private var sidecars: [SidecarFile] = []

  /// Of a source: the one it had when it was read.
  private var version: Int?

  init(root: String, previous: LibraryTable?) throws(StorageError) {
    var found: [(id: String, entry: LibraryEntry)] = []
    try scan(root, "", previous, 0, &found)
    take(&found)
  }

  init(_ source: any LibrarySource, previous: LibraryTable?) throws(StorageError) {
    version = try source.version()
    var found: [(id: String, entry: LibraryEntry)] = []
    for image in try source.images() {
      var status = stat()
      // Gone since it was named.
      guard stat(image.path, &status) == 0 else { continue }
      let (identity, sidecar) = (
        FileIdentity(status), image.sidecar.flatMap { SidecarFile(path: $0.path) }
      )
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

  private mutating func take(_ found: inout [(id: String, entry: LibraryEntry)]) {
    found.sort { $0.id < $1.id }
    ids = found.map(\.id)
    entries = found.map(\.entry)
    var capacity = 16
    while capacity < ids.count * 2 { capacity *= 2 }
    slots = Array(repeating: -1, count: capacity)
    for (number, id) in ids.enumerated() {
      var id = id
      var slot = id.withUTF8 { Self.hash(UnsafeRawBufferPointer($0)) } & (capacity - 1)
      while slots[slot] >= 0 { slot = (slot + 1) & (capacity - 1) }
      slots[slot] = Int32(number)
    }
  }

  func entry(_ id: String) -> LibraryEntry? {
    var id = id
    return id.withUTF8 { entry(UnsafeRawBufferPointer($0)) }
  }

  func entry(_ id: UnsafeRawBufferPointer) -> LibraryEntry? { index(id).map { entries[$0] } }

  /// The place of an id among `ids`.
  func index(_ id: UnsafeRawBufferPointer) -> Int? {
    let mask = slots.count - 1
    var slot = Self.hash(id) & mask
    while slots[slot] >= 0 {
      let number = Int(slots[slot])
      if ids[number].utf8.elementsEqual(id) { return number }
      slot = (slot + 1) & mask
    }
    return nil
  }

  /// Whether a folder, or the source, has changed since it was read.
  func isStale(_ source: (any LibrarySource)?) -> Bool {
    if let source { return (try? source.version()) != version }
    return hasChangedSidecar
      || folders.contains { folder in
        var status = stat()
        return stat(folder.path, &status) != 0 || folder.isUncertain
          || FileIdentity(status).modifiedNanoseconds != folder.modified
      }
  }

  /// Programs that write into a sidecar leave its folder's time alone. Of very many, some are looked at in turn.
  private var hasChangedSidecar: Bool {
    let most = 2000
    let start = sidecars.count <= most ? 0 : Int.random(in: 0..<sidecars.count)
    return (0..<min(most, sidecars.count)).contains { sidecars[(start + $0) % sidecars.count].hasChanged }
  }

  /// Takes in what one image is now, without reading its folder; nil where it is gone.
  mutating func replace(_ id: String, with entry: LibraryEntry?) {
    var text = id
    let at = text.withUTF8 { index(UnsafeRawBufferPointer($0)) }
    if let at, let entry {
      if let old = entries[at].sidecar { sidecars.removeAll { $0 == old } }
      if let new = entry.sidecar { sidecars.append(new) }
      entries[at] = entry
      return
    }
    guard at != nil || entry != nil else { return }
    replace([id: entry])
  }

  /// The same for several, some of which come or go.
  mutating func replace(_ changes: [String: LibraryEntry?]) {
    var found = zip(ids, entries).filter { changes[$0.0] == nil }.map { (id: $0.0, entry: $0.1) }
    for (id, entry) in changes { if let entry { found.append((id, entry)) } }
    take(&found)
    sidecars = entries.compactMap(\.sidecar)
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    return Int(truncatingIfNeeded: hash >> 8)
  }

  /// What images come as, the first before the others where several have one name.
  private static let endings = [".szi", ".dzi", ".zip"]

  private mutating func scan(
    _ folder: String, _ prefix: String, _ previous: LibraryTable?, _ depth: Int,
    _ found: inout [(id: String, entry: LibraryEntry)]
  ) throws(StorageError) {
    var status = stat()
    guard stat(folder, &status) == 0, let directory = opendir(folder) else {
      if depth > 0 { return }  // gone since its name was read
      throw StorageError("open the library \(folder)", errno: errno)
    }
    defer { closedir(directory) }
    let modified = FileIdentity(status).modifiedNanoseconds
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let age = now.tv_sec * 1_000_000_000 + now.tv_nsec - modified
    folders.append(Folder(path: folder, modified: modified, isUncertain: abs(age) < 100_000_000))
    var images: [String: String] = [:]
    var subfolders: [String] = []
    var sidecarNames: Set<String> = []
    var tileFolders: Set<String> = []
    while let entry = readdir(directory) {
      // Partial files begin with a dot, as do a person's hidden ones.
      guard let name = entry.pointee.name, !name.hasPrefix(".") else { continue }
      if let ending = Self.endings.first(where: { name.hasSuffix($0) && name.utf8.count > 4 }) {
        let base = String(name.dropLast(4))
        if ending == ".dzi" { tileFolders.insert(base + "_files") }
        // Our own archive stands before what it may have been made from.
        let other = images[base].flatMap { Self.endings.firstIndex(of: $0) } ?? .max
        if Self.endings.firstIndex(of: ending)! < other { images[base] = ending }
      }
      if name.hasSuffix(".xmp") { sidecarNames.insert("\(folder)/\(name)") }
      if entry.pointee.isFolder { subfolders.append(name) }
    }
    for (base, ending) in images {
      let path = "\(folder)/\(base)\(ending)"
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      let id = prefix + base
      let identity = FileIdentity(status)
      let sidecar =
        sidecarNames.isEmpty ? nil : SidecarFile(ofArchive: path) { sidecarNames.contains($0) }
      if let sidecar { sidecars.append(sidecar) }
      if let old = previous?.entry(id), old.identity == identity, old.path == path, old.sidecar == sidecar {
        found.append((id, old))
      } else {
        found.append((id, LibraryEntry(id: id, path: path, identity: identity, sidecar: sidecar)))
      }
    }
    // Tiles' folders are vast and hold no images of their own.
    for name in subfolders where depth < 64 && !tileFolders.contains(name) {
      // Its ids would be those of private spaces.
      if depth == 0, name == "~" { continue }
      try scan("\(folder)/\(name)", prefix + name + "/", previous, depth + 1, &found)
    }
  }
}
