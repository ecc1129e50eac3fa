import Glibc
import TileGeometry
import TileStorage
package import ZigguratFiles

/// Moves of pictures between a library and its private spaces.
///
/// The copy is complete and read back before the original is removed. If the process is killed, the picture exists at
/// least once, and the same call completes the move.
package struct PictureMove: Sendable {
  private let library: String

  /// - Parameter library: the library's folder.
  package init(library: String) { self.library = library }

  /// Encrypts a picture of the library into the space, with its sidecar and the original of an upload. Then it deletes
  /// them from the library.
  package func seal(_ id: ImageID, into space: PrivateSpace) throws(StorageError) {
    let path = id.archive(in: library)
    guard access(path, F_OK) == 0 else {
      throw StorageError("move \(id)", "the library has no such picture", code: ENOENT)
    }
    // No sidecar can be written meanwhile that would be left behind.
    let lock = try DirectoryLock(parentFolder(path))
    defer { withExtendedLifetime(lock) {} }
    let enclosure = try RootDirectory(library)
    let archive = try TileArchive(path: path, within: enclosure)
    let sidecar = try Self.metadata(ofArchive: path, enclosure)
    var entries: [(name: String, bytes: [UInt8])] = []
    // An entry that another program named like an original is not one.
    for name in archive.entryNames where name != "\(archive.name).dzi" && !name.hasPrefix(Self.originalPrefix)
    {
      guard let bytes = archive.entry(name) else { throw Self.damaged(id, name) }
      entries.append((name, Array(bytes)))
    }
    let original = try Self.original(id, archive, path, enclosure)
    if let original { entries.append((original.name, Array(original.file.file.bytes))) }
    let tiles = { (number: Int) in archive.tile(number).map { Array($0) } }
    if let there = try space.archive(ofID: id) {
      try Self.requireSame(
        id, "the space", there.pyramid == archive.pyramid, archive.pyramid, tiles, there.copy)
      try Self.requireSameSource(id, "the space", archive.buildRecord, there.buildRecord)
      try Self.add(sidecar, to: id, there, "the space", space)
      if let original {
        try Self.seal(original: original.file.file, ending: original.file.ending, of: id, in: space)
      }
    } else {
      let writer = try space.makeWriter(
        id: id, pyramid: archive.pyramid, format: archive.format, sidecar: sidecar)
      try Self.copy(id, archive.pyramid, tiles, entries, to: writer)
      guard let sealed = try space.archive(ofID: id) else { throw Self.damaged(id, "its copy") }
      try Self.requireSame(id, "the space", true, archive.pyramid, tiles, sealed.copy)
    }
    for each in SidecarFile.all(ofArchive: path) { try each.remove() }
    let moved = IDRedirects(library: library)
    try moved.forget(leadingTo: id)
    // The redirects of a book are removed with its last page.
    if let book = archive.buildRecord?.book(ofPage: id), !moved.hasArchives(below: book, besides: path) {
      try moved.forget(leadingTo: book)
    }
    // Both are encrypted: the same call removes the rest.
    if let original { try remove(original.file.path) }
    try remove(path)
  }

  /// Decrypts a picture of the space into the library, where everybody can see it, and deletes it from the space.
  package func unseal(_ id: ImageID, of space: PrivateSpace) throws(StorageError) {
    let sealed = try Self.archive(id, space)
    guard !id.isHidden else {
      throw StorageError("move \(id)", "a library shows no image of that id", code: EOPNOTSUPP)
    }
    let path = id.archive(in: library)
    try RootDirectory(library).make(parentFolder(path))
    let lock = try DirectoryLock(parentFolder(path))
    defer { withExtendedLifetime(lock) {} }
    let (content, sidecar) = try Self.content(id, sealed, space)
    let entries = content.filter { !$0.name.hasPrefix(Self.originalPrefix) }
    let metadata = try Self.metadata(ofArchive: path, RootDirectory(library))
    try Self.requireSame(id, "the library", metadata: sidecar, metadata)
    func publish() throws(StorageError) {
      guard let sidecar, metadata == nil else { return }
      try SidecarFile.publish(sidecar, to: SidecarFile.place(ofArchive: path))
    }
    if access(path, F_OK) == 0 {
      let there = try TileArchive(path: path, within: nil)
      try Self.requireSame(id, "the library", there.pyramid == sealed.pyramid, sealed.pyramid, sealed.copy) {
        there.tile($0).map { Array($0) }
      }
      try Self.requireSameSource(id, "the library", sealed.buildRecord, there.buildRecord)
      _ = try unsealOriginal(of: id, content, sealed, space, besideArchive: path)
      try publish()
    } else {
      let store = FolderStore(library: library)
      let writer = try store.makeWriter(id: id, pyramid: sealed.pyramid, format: sealed.format)
      // First, so that the picture is never there without its metadata.
      try publish()
      let original = try unsealOriginal(of: id, content, sealed, space, besideArchive: path)
      do throws(StorageError) { try Self.copy(id, sealed.pyramid, sealed.copy, entries, to: writer) } catch {
        // The picture is still private.
        if let original { unlink(original) }
        throw error
      }
    }
    try space.remove(id: id)
  }

  /// Moves a picture from one space into another.
  package static func reseal(
    _ id: ImageID, of space: PrivateSpace, into other: PrivateSpace
  ) throws(StorageError) {
    guard space.identity != other.identity else {
      throw StorageError("move \(id)", "both passwords open the same space", code: EINVAL)
    }
    let sealed = try archive(id, space)
    let (entries, sidecar) = try content(id, sealed, space)
    if let there = try other.archive(ofID: id) {
      try requireSame(
        id, "the other space", there.pyramid == sealed.pyramid, sealed.pyramid, sealed.copy, there.copy)
      try requireSameSource(id, "the other space", sealed.buildRecord, there.buildRecord)
      try add(sidecar, to: id, there, "the other space", other)
      for original in entries where original.name.hasPrefix(originalPrefix) {
        try seal(
          original: original.bytes, ending: String(original.name.dropFirst(originalPrefix.count)), of: id,
          in: other)
      }
    } else {
      let writer = try other.makeWriter(
        id: id, pyramid: sealed.pyramid, format: sealed.format, sidecar: sidecar)
      try copy(id, sealed.pyramid, sealed.copy, entries, to: writer)
      guard let there = try other.archive(ofID: id) else { throw damaged(id, "its copy") }
      try requireSame(id, "the other space", true, sealed.pyramid, sealed.copy, there.copy)
    }
    try handOnOriginal(of: id, in: space)
    try space.remove(id: id)
  }

  // MARK: Originals

  private static let originalPrefix = SealedOriginal.prefix
  /// The maximum size in bytes of an original in a space, because the whole original is in memory.
  package static let maxOriginalSize = 256 << 20

  private static func original(
    _ id: ImageID, _ archive: TileArchive, _ path: String, _ enclosure: RootDirectory
  ) throws(StorageError) -> (name: String, file: OriginalFile)? {
    guard let record = archive.buildRecord, record.isUploaded == true,
      let file = OriginalFile(ofArchive: path, record, within: enclosure)
    else { return nil }
    try requireShort(file.file, id)
    return (originalPrefix + file.ending, file)
  }

  private static func requireShort(_ file: MappedFile, _ id: ImageID) throws(StorageError) {
    guard file.bytes.count <= maxOriginalSize else {
      throw StorageError(
        "move \(id)",
        "its original has more than \(maxOriginalSize >> 20) MB, which a private space cannot keep",
        code: EFBIG)
    }
  }

  /// Adds an original to a picture of the space that has none.
  ///
  /// - Parameter ending: the extension of the file's name.
  package static func seal(
    original file: MappedFile, ending: String, of id: ImageID, in space: PrivateSpace
  ) throws(StorageError) {
    try requireShort(file, id)
    try seal(original: Array(file.bytes), ending: ending, of: id, in: space)
  }

  private static func seal(
    original bytes: [UInt8], ending: String, of id: ImageID, in space: PrivateSpace
  ) throws(StorageError) {
    let sealed = try archive(id, space)
    if let name = sealed.entryNames.first(where: { $0.hasPrefix(originalPrefix) }) {
      guard let there = sealed.entry(name) else { throw damaged(id, name) }
      guard there == bytes else { throw conflict(id, "the space has another original of that picture") }
      return
    }
    let entries = try entries(id, sealed) + [(name: originalPrefix + ending, bytes: bytes)]
    let writer = try space.makeWriter(id: id, pyramid: sealed.pyramid, format: sealed.format, sidecar: nil)
    try copy(id, sealed.pyramid, sealed.copy, entries, to: writer)
  }

  /// Returns another page of a book that is one file; nil if the space has none.
  /// - Parameter others: pages to ignore.
  private static func otherPage(
    ofBookOf id: ImageID, _ sealed: SealedArchive, in space: PrivateSpace, besides others: Set<ImageID> = []
  ) throws(StorageError) -> ImageID? {
    guard let record = sealed.buildRecord, record.page != nil, record.folio == nil else { return nil }
    return try space.ids().sorted().first { other in
      other != id && other.folder == id.folder && !others.contains(other)
        && space.buildRecord(ofID: other)?.sourceDigest == record.sourceDigest
    }
  }

  enum HandedOn {
    case noOriginal, noOtherPage, toOtherPage
  }

  /// Copies the original of a page that leaves the space to another page of its book.
  /// - Parameter others: pages that leave with it.
  @discardableResult
  static func handOnOriginal(
    of id: ImageID, in space: PrivateSpace, besides others: Set<ImageID> = []
  ) throws(StorageError) -> HandedOn {
    guard let sealed = try space.archive(ofID: id),
      let name = sealed.entryNames.first(where: { $0.hasPrefix(originalPrefix) }),
      let record = sealed.buildRecord, record.page != nil, record.folio == nil
    else { return .noOriginal }
    guard let page = try otherPage(ofBookOf: id, sealed, in: space, besides: others) else {
      return .noOtherPage
    }
    guard let bytes = sealed.entry(name) else { throw damaged(id, name) }
    try seal(original: bytes, ending: String(name.dropFirst(originalPrefix.count)), of: page, in: space)
    return .toOtherPage
  }

  /// Decrypts an original beside the archive of its picture, or moves it to another page of its book in the space.
  /// - Returns: the path of the new file.
  private func unsealOriginal(
    of id: ImageID, _ content: [(name: String, bytes: [UInt8])], _ sealed: SealedArchive,
    _ space: PrivateSpace, besideArchive path: String
  ) throws(StorageError) -> String? {
    // Entries of another program may have such names, too.
    guard let record = sealed.buildRecord,
      let entry = content.first(where: { entry in
        entry.name.hasPrefix(Self.originalPrefix)
          && OriginalName.isEnding(entry.name.dropFirst(Self.originalPrefix.count))
          && ContentDigest.text(of: entry.bytes) == record.sourceDigest
      })
    else { return nil }
    let ending = String(entry.name.dropFirst(Self.originalPrefix.count))
    // A book's original shows its other pages, too.
    if let page = try Self.otherPage(ofBookOf: id, sealed, in: space) {
      try Self.seal(original: entry.bytes, ending: ending, of: page, in: space)
      return nil
    }
    guard
      let place = try OriginalName.place(
        besideArchive: OriginalFile.archive(ofOriginalOf: path, record), digest: record.sourceDigest, ending)
    else { return nil }
    try RootDirectory(library).make(parentFolder(place))
    try SidecarFile.publish(entry.bytes, to: place)
    return place
  }

  /// Returns the content of an archive's sidecar; nil if there is none, or it is empty. Throws if there are two
  /// sidecars with different metadata, because one would be lost.
  private static func metadata(
    ofArchive path: String, _ enclosure: RootDirectory
  ) throws(StorageError) -> [UInt8]? {
    var metadata: [UInt8]?
    for file in SidecarFile.all(ofArchive: path) {
      let bytes = try file.contents(within: enclosure)
      guard !bytes.isEmpty, bytes != metadata else { continue }
      guard metadata == nil else {
        throw StorageError(
          "move \(path)", "it has two sidecars with different metadata; remove one of them", code: EEXIST)
      }
      metadata = bytes
    }
    return metadata
  }

  /// The name of the sidecar in encrypted archives of earlier versions, which had no files for sidecars.
  private static let sidecar = "sidecar.xmp"

  private static func archive(_ id: ImageID, _ space: PrivateSpace) throws(StorageError) -> SealedArchive {
    guard let archive = try space.archive(ofID: id) else {
      throw StorageError("move \(id)", "the space has no such picture", code: ENOENT)
    }
    return archive
  }

  private static func content(
    _ id: ImageID, _ sealed: SealedArchive, _ space: PrivateSpace
  ) throws(StorageError) -> (entries: [(name: String, bytes: [UInt8])], sidecar: [UInt8]?) {
    var entries = try entries(id, sealed)
    let old = entries.firstIndex { $0.name == sidecar }.map { entries.remove(at: $0).bytes }
    return (entries, try space.sidecar(ofID: id) ?? old)
  }

  private static func entries(
    _ id: ImageID, _ sealed: SealedArchive
  ) throws(StorageError) -> [(name: String, bytes: [UInt8])] {
    var entries: [(name: String, bytes: [UInt8])] = []
    for name in sealed.entryNames {
      guard let bytes = sealed.entry(name) else { throw damaged(id, name) }
      entries.append((name, bytes))
    }
    return entries
  }

  /// Adds the metadata of a moved picture to the same picture in the space.
  /// - Parameter place: the name of the space in errors.
  private static func add(
    _ metadata: [UInt8]?, to id: ImageID, _ sealed: SealedArchive, _ place: String, _ space: PrivateSpace
  ) throws(StorageError) {
    let old = sealed.entry(sidecar)
    _ = try space.changeSidecar(ofID: id) { (there) throws(StorageError) in
      try requireSame(id, place, metadata: metadata, there.isEmpty ? old : there)
      return there.isEmpty && old == nil ? metadata : nil
    }
  }

  private static func copy(
    _ id: ImageID, _ pyramid: Pyramid, _ tile: (Int) -> [UInt8]?, _ entries: [(name: String, bytes: [UInt8])],
    to writer: any ArchiveWriter
  ) throws(StorageError) {
    do throws(StorageError) {
      guard pyramid.overlap == 0 else {
        throw StorageError("move \(id)", "its tiles overlap; build it again", code: EOPNOTSUPP)
      }
      for number in 0..<pyramid.tileCount {
        guard let bytes = tile(number) else { throw damaged(id, "tile \(number)") }
        try bytes.withUnsafeBufferPointer { (bytes) throws(StorageError) in
          let bytes = UnsafeRawBufferPointer(bytes)
          try writer.append(tile: number, bytes, crc: checksum(bytes))
        }
      }
      for entry in entries { try writer.append(entry.name, entry.bytes) }
      _ = try writer.finish()
    } catch {
      writer.abandon()
      throw error
    }
  }

  /// Throws if an existing image is not a copy whose move was interrupted.
  private static func requireSame(
    _ id: ImageID, _ place: String, _ isSameSize: Bool, _ pyramid: Pyramid, _ tile: (Int) -> [UInt8]?,
    _ other: (Int) -> [UInt8]?
  ) throws(StorageError) {
    guard isSameSize,
      (0..<pyramid.tileCount).allSatisfy({ number in
        tile(number).map { $0 == other(number) } ?? false
      })
    else { throw conflict(id, "\(place) has another picture of that name") }
  }

  /// Throws if two pictures with the same tiles were made from different files, such as motion photos with different
  /// videos.
  private static func requireSameSource(
    _ id: ImageID, _ place: String, _ one: BuildRecord?, _ other: BuildRecord?
  ) throws(StorageError) {
    guard one?.sourceDigest == other?.sourceDigest else {
      throw conflict(id, "\(place) has a picture of that name that was made from another file")
    }
  }

  /// Throws if the move would lose one of two versions of a picture's metadata.
  private static func requireSame(
    _ id: ImageID, _ place: String, metadata one: [UInt8]?, _ other: [UInt8]?
  ) throws(StorageError) {
    guard let one, let other, !one.isEmpty, !other.isEmpty, one != other else { return }
    throw conflict(id, "\(place) has the same picture with other metadata")
  }

  private static func conflict(_ id: ImageID, _ reason: String) -> StorageError {
    StorageError("move \(id)", reason, code: EEXIST)
  }

  private static func damaged(_ id: ImageID, _ what: String) -> StorageError {
    StorageError("move \(id)", "\(what) cannot be read")
  }

  private func remove(_ path: String) throws(StorageError) {
    guard unlink(path) == 0 else { throw StorageError("remove \(path)", errno: errno) }
    // A file that reappears after a power failure would not be encrypted.
    try FolderTree.synchronize(parentFolder(path))
  }
}
