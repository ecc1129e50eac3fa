import Glibc
import Synchronization
package import TileStorage
package import ZigguratCatalog
package import ZigguratFiles
package import ZigguratMetadata

/// One archive of the library, for as long as its file and its sidecar are unchanged.
package final class LibraryEntry: Sendable {
  package let id: ImageID
  package let path: String
  package let identity: FileIdentity
  package let sidecar: SidecarFile?
  /// The metadata of the image, read at the first request.
  private struct MetadataState {
    /// Metadata in memory of its own, since most of it is never requested.
    final class Read: Sendable {
      let metadata: ImageMetadata
      init(_ metadata: ImageMetadata) { self.metadata = metadata }
    }
    var read: Read?
    /// The number of consecutive failed reads, and the time of the next attempt.
    var failures = 0
    var notBefore: ContinuousClock.Instant?

    var isWaiting: Bool { notBefore.map { .now < $0 } ?? false }
  }
  private let state = Mutex(MetadataState())
  /// Held during a read. Other threads wait for its result.
  private let reading = Mutex<Void>(())
  /// Returns the sidecar's bytes; nil if there is no sidecar, or it cannot be read.
  package let readSidecar: @Sendable () -> [UInt8]?
  private let hasSidecar: Bool
  /// Whether the image is in a private space. A sandboxed process that has read other files must not see its metadata.
  private let isPrivate: Bool
  private let opener: @Sendable () throws(StorageError) -> TileArchive
  private let opened = Mutex<TileArchive?>(nil)
  private let isDefective = Atomic<Bool>(false)
  /// The value of the archives' clock at the last use.
  fileprivate let lastUse = Atomic<Int>(0)

  /// - Parameter enclosure: the library. Links out of it are not followed.
  package init(
    id: ImageID, path: String, identity: FileIdentity, sidecar: SidecarFile? = nil,
    within enclosure: RootDirectory? = nil
  ) {
    self.id = id
    self.path = path
    self.identity = identity
    self.sidecar = sidecar
    readSidecar = { sidecar?.bytes(within: enclosure) }
    opener = { () throws(StorageError) in try TileArchive(path: path, within: enclosure) }
    isPrivate = false
    hasSidecar = sidecar != nil
  }

  package init(_ image: SourceImage, identity: FileIdentity, sidecar: SidecarFile?) {
    id = image.id
    path = image.path
    opener = image.open
    self.identity = identity
    self.sidecar = sidecar
    if let reader = image.sidecar { readSidecar = reader.read } else { readSidecar = { nil } }
    isPrivate = true
    hasSidecar = sidecar != nil
  }

  /// Creates the entry of an image in an object store.
  /// - Parameter xmp: the metadata that visitors wrote, which is public.
  package init(ofRow image: SourceImage, _ xmp: [UInt8]? = nil) {
    id = image.id
    path = image.path
    opener = image.open
    identity = image.identity ?? FileIdentity(inode: 0, size: 0, modifiedNanoseconds: 0)
    sidecar = nil
    readSidecar = { xmp }
    isPrivate = false
    hasSidecar = xmp != nil
  }

  package var fileVersion: FileVersion { FileVersion(identity, sidecar: sidecar?.identity) }

  /// Returns the image's entry for the catalog. If the sidecar cannot be read now, its metadata is missing and
  /// `fileVersion` is unset, so that it is read again.
  /// - Parameter mayWait: whether to wait for metadata that is not in memory.
  package func catalogEntry(_ archive: TileArchive, mayWait: Bool = true) -> CatalogEntry {
    var entry = CatalogEntry(id: id, fileVersion: fileVersion, archive: archive)
    if mayWait || isQuick, let read = try? metadata(archive) {
      entry.metadata = read
    } else {
      entry.fileVersion = .unset
    }
    return entry
  }

  /// Whether `metadata` returns at once, even if it cannot read the sidecar at present.
  package var isQuick: Bool { !hasSidecar || state.withLock { $0.read != nil || $0.isWaiting } }

  /// Whether the last read failed and the next one is not due yet.
  package var isWaiting: Bool { state.withLock { $0.isWaiting } }

  /// Returns the metadata of the sidecar, or else of the archive. A damaged sidecar is ignored.
  package func metadata(_ archive: TileArchive) throws(MetadataUnavailable) -> ImageMetadata {
    guard hasSidecar else { return archive.metadata }
    if let read = state.withLock({ $0.read }) { return read.metadata }
    let result: Result<ImageMetadata, MetadataUnavailable> = reading.withLock { _ in
      let known = state.withLock { $0 }
      if let read = known.read { return .success(read.metadata) }
      if known.isWaiting { return .failure(MetadataUnavailable()) }
      do throws(MetadataUnavailable) {
        var read = archive.metadata
        if let bytes = readSidecar(), let sidecar = try Sidecar(bytes, isPrivate: isPrivate) {
          read = sidecar.applied(to: read)
        }
        state.withLock { [read] in $0.read = MetadataState.Read(read) }
        return .success(read)
      } catch {
        state.withLock { state in
          state.notBefore = .now + .seconds(min(64, 2 << state.failures))
          state.failures = min(state.failures + 1, 6)
        }
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Whether this call is the first to find that the archive cannot be read.
  package func isFirstError() -> Bool { !isDefective.exchange(true, ordering: .relaxed) }

  /// Opens the archive without counting it among the open ones.
  package func openOnce() throws(StorageError) -> TileArchive { try opener() }

  /// Returns the archive, and whether this call opened it. Other threads wait until it is open.
  fileprivate func open() throws(StorageError) -> (archive: TileArchive, isNew: Bool) {
    let result: Result<(TileArchive, Bool), StorageError> = opened.withLock { opened in
      let isNew = opened == nil
      if let opened, !opened.shouldReopen { return .success((opened, false)) }
      do throws(StorageError) {
        let archive = try opener()
        opened = archive
        return .success((archive, isNew))
      } catch { return .failure(error) }
    }
    return try result.get()
  }

  fileprivate func holds(_ archive: TileArchive) -> Bool { opened.withLock { $0 === archive } }

  fileprivate func close() { opened.withLock { $0 = nil } }
}

/// A policy for reading the metadata of many images in turn. After several consecutive failures, no sandboxed process
/// is available, so no more metadata is requested.
package struct MetadataReadPolicy {
  private let most: Int
  private var failures = 0

  package init(failures most: Int) { self.most = most }

  package mutating func catalogEntry(_ entry: LibraryEntry, _ archive: TileArchive) -> CatalogEntry {
    let (isQuick, mayWait) = (entry.isQuick, failures < most)
    let found = entry.catalogEntry(archive, mayWait: mayWait)
    if !isQuick, mayWait { failures = found.isWordless ? failures + 1 : 0 }
    return found
  }
}

/// The open archives. Their number and their memory are limited. The least recently used one is closed first; a
/// response in progress keeps its archive until it is sent.
package final class OpenArchives: Sendable {
  private struct State {
    var entries: [(entry: LibraryEntry, cost: Int)] = []
    var cost = 0
  }

  private let limit: Int
  /// The maximum size of indexes and records, in bytes.
  private let costLimit: Int
  /// A clock that counts openings. Archives that were used since the same opening count as equally recent.
  private let clock = Atomic<Int>(1)
  private let state = Mutex(State())

  package init(limit: Int, costLimit: Int = 256 << 20) {
    precondition(limit > 0, "an archive that is asked for must be open")
    self.limit = limit
    self.costLimit = costLimit
    DescriptorRelief.shared.add { [weak self] in self?.closeHalf() }
  }

  package var count: Int { state.withLock { $0.entries.count } }

  package func archive(_ entry: LibraryEntry) throws(StorageError) -> TileArchive {
    let now = clock.load(ordering: .relaxed)
    // Written at most once per opening, so that threads do not contend for it with every tile.
    if entry.lastUse.load(ordering: .relaxed) != now { entry.lastUse.store(now, ordering: .relaxed) }
    let (archive, isNew) = try opened(entry)
    if isNew { add(entry, cost: archive.memoryCost) }
    return archive
  }

  /// Opens the entry's archive. If no file descriptor is free, other archives are closed first.
  private func opened(_ entry: LibraryEntry) throws(StorageError) -> (archive: TileArchive, isNew: Bool) {
    do throws(StorageError) { return try entry.open() } catch {
      guard DescriptorRelief.isShortage(error.code), DescriptorRelief.shared.relieve() else { throw error }
      return try entry.open()
    }
  }

  /// Closes the least recently used half, and returns the number of closed archives.
  package func closeHalf() -> Int {
    state.withLock { state in
      let count = (state.entries.count + 1) / 2
      for _ in 0..<count { Self.close(Self.oldest(of: state.entries.indices, state), &state) }
      return count
    }
  }

  private static func oldest(of places: Range<Int>, _ state: State) -> Int {
    var oldest = places.lowerBound
    for at in places
    where state.entries[at].entry.lastUse.load(ordering: .relaxed)
      < state.entries[oldest].entry.lastUse.load(ordering: .relaxed)
    {
      oldest = at
    }
    return oldest
  }

  /// Returns the entry of an open archive; nil if the archive is closed already, or is of another library.
  package func entry(of archive: TileArchive) -> LibraryEntry? {
    state.withLock { $0.entries.map(\.entry) }.first { $0.holds(archive) }
  }

  /// Closes archives that no longer belong to the library.
  package func removeAll(where isGone: (LibraryEntry) -> Bool) {
    state.withLock { state in
      for at in state.entries.indices.reversed() where isGone(state.entries[at].entry) {
        Self.close(at, &state)
      }
    }
  }

  private func add(_ entry: LibraryEntry, cost: Int) {
    clock.wrappingAdd(1, ordering: .relaxed)
    state.withLock { state in
      // It may be here already, closed and opened again between two threads.
      guard !state.entries.contains(where: { $0.entry === entry }) else { return }
      state.entries.append((entry, cost))
      state.cost += cost
      while state.entries.count > limit || (state.cost > costLimit && state.entries.count > 1) {
        // The new archive stays open.
        Self.close(Self.oldest(of: state.entries.indices.dropLast(), state), &state)
      }
    }
  }

  private static func close(_ at: Int, _ state: inout State) {
    state.entries[at].entry.close()
    state.cost -= state.entries[at].cost
    state.entries.swapAt(at, state.entries.count - 1)
    state.entries.removeLast()
  }
}

extension LibraryTable {
  /// Whether the folder is no library: it contains files, but no archive.
  func isOfOthers(_ root: String) -> Bool {
    guard ids.isEmpty, let directory = opendir(root) else { return false }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      if entry.pointee.name?.utf8.first != UInt8(ascii: ".") { return true }
    }
    return false
  }
}
