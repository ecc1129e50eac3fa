import Synchronization
import TileStorage
package import ZigguratCatalog
package import ZigguratFiles
package import ZigguratImageLibrary
package import ZigguratObjectStore

/// The images of a library in an object store, for servers that share a catalog. One of them copies changes from the
/// index into the catalog, and all of them query the catalog.
package final class ObjectImages: RemoteImageSource {
  private let library: ObjectLibrary
  private let asked = Mutex<ContinuousClock.Instant?>(nil)
  /// The time at which old rows were last removed.
  private let swept = Mutex<ContinuousClock.Instant?>(nil)
  private let pause: Duration

  /// - Parameter pause: the minimum time between two requests for the index. The default makes 5 million of them a
  ///   month.
  package init(_ library: ObjectLibrary, pause: Duration = .milliseconds(450)) {
    self.library = library
    self.pause = pause
  }

  package func image(_ row: ArchiveRow) -> SourceImage {
    let (image, key) = archive(of: row)
    return SourceImage(
      id: row.id, path: key,
      identity: FileIdentity(inode: row.generation, size: row.byteCount, modifiedNanoseconds: 0),
      open: image.archive)
  }

  private func archive(of row: ArchiveRow) -> (image: LazyArchive, key: String) {
    library.image(
      row.id, digest: row.digest, etag: row.etag, byteCount: row.byteCount, pyramid: row.pyramid,
      format: row.format, generation: row.generation
    ) { name in
      switch name {
      case BuildRecord.entryName: row.build
      case ImageMetadata.entryName: row.metadata
      default: nil
      }
    }
  }

  package var figures: [SourceFigure] { library.figures }

  package var outage: SourceOutage? { library.sourceOutage }

  package func update(
    _ catalog: Catalog, isCancelled: () -> Bool, unreadable: (StorageError) -> Void
  ) throws(StorageError) -> Int {
    let isEarly = asked.withLock { $0.map { .now - $0 < pause } ?? false }
    if isEarly, !catalog.needsUpdate { return 0 }
    asked.withLock { $0 = .now }
    let making = catalog.making
    // Before the index is read, so that it contains them.
    try announce(making, catalog)
    var count = 0
    if let news = try library.news(since: catalog.parts()) {
      var images = news.images
      var gone = news.gone
      if news.isWhole {
        var known: [ImageID: String] = [:]
        try catalog.forEachArchive { known[$0] = $1 }
        images.removeAll { known.removeValue(forKey: $0.id) == $0.digestText }
        let there = Set(news.images.map(\.id))
        gone = known.keys.filter { !there.contains($0) }
      }
      count = images.count
      try take(images, gone, news, making, catalog, isCancelled, unreadable)
      if isCancelled() { return count }
    } else if try !catalog.isFilled() {
      try catalog.take(ArchiveChange(), parts: Catalog.noParts, in: making)
    }
    if swept.withLock({ swept in
      guard swept.map({ .now - $0 > .seconds(60) }) ?? true else { return false }
      swept = .now
      return true
    }) {
      try catalog.forgetFormer()
    }
    catalog.isComplete(making)
    return count
  }

  /// Stores the changes in transactions that are short enough for others to wait. The last one records that all were
  /// stored.
  private func take(
    _ images: [ObjectLibrary.Image], _ gone: [ImageID], _ news: ObjectLibrary.News, _ making: Int,
    _ catalog: Catalog,
    _ isCancelled: () -> Bool, _ unreadable: (StorageError) -> Void
  ) throws(StorageError) {
    for start in stride(from: 0, to: images.count, by: 500) {
      if isCancelled() { return }
      var rows = images[start..<min(start + 500, images.count)].map(row)
      while !rows.isEmpty {
        let taking = try catalog.take(try listed(rows, catalog, unreadable), in: making)
        for error in taking.refused { unreadable(error) }
        let edited = Set(taking.edited)
        rows.removeAll { !edited.contains($0.id) }
      }
    }
    for start in stride(from: 0, to: gone.count, by: 500) {
      var change = ArchiveChange()
      change.gone = Array(gone[start..<min(start + 500, gone.count)])
      try catalog.take(change, in: making)
    }
    try catalog.take(ArchiveChange(), parts: news.parts, isWhole: news.isWhole, in: making)
  }

  /// Adds the archives that visitors have restored to the index. The index may have another archive, or none, and the
  /// garbage collector removes archives that are missing from it for days.
  private func announce(_ making: Int, _ catalog: Catalog) throws(StorageError) {
    while true {
      let rows = try catalog.unannounced()
      if rows.isEmpty { return }
      try library.announce(rows.map { row in (row.id, archive(of: row).image, row.digest) })
      try catalog.areAnnounced(rows, in: making)
    }
  }

  /// Returns the archives with their catalog entries, made from the archives and the metadata of visitors.
  private func listed(
    _ rows: [ArchiveRow], _ catalog: Catalog, _ unreadable: (StorageError) -> Void
  ) throws(StorageError) -> ArchiveChange {
    var change = ArchiveChange()
    let sidecars = try catalog.sidecars(of: rows.map(\.id))
    for row in rows {
      let sidecar = sidecars[row.id]
      let entry = LibraryEntry(ofRow: image(row), sidecar?.xmp)
      let archive: TileArchive
      do throws(StorageError) { archive = try entry.openOnce() } catch {
        // A damaged archive must not keep the others out.
        guard !error.isTemporary else { throw error }
        unreadable(error.during("list \(row.id)"))
        continue
      }
      let listed = entry.catalogEntry(archive)
      guard !listed.isWordless else {
        throw StorageError("list \(row.id)", "its metadata cannot be read at present", kind: .unreachable)
      }
      change.entries.append(listed)
      change.archives.append(row)
      change.versions[row.id] = sidecar?.version
    }
    return change
  }

  private func row(_ image: ObjectLibrary.Image) -> ArchiveRow {
    let listed = image.image.listed
    return ArchiveRow(
      id: image.id, generation: listed.generation, digest: image.digestText, etag: listed.version.etag,
      byteCount: listed.version.byteCount, pyramid: listed.pyramid, format: listed.format,
      build: listed.entries(BuildRecord.entryName) ?? [],
      metadata: listed.entries(ImageMetadata.entryName) ?? []
    )
  }
}
