import Synchronization
package import ZigguratFiles
package import ZigguratImageLibrary
package import ZigguratObjectStore

/// The images of a library in an object store, for a server.
package final class ObjectSource: LibrarySource {
  package let library: ObjectLibrary
  private let asked = Mutex<(at: ContinuousClock.Instant, version: Int)?>(nil)
  private let pause: Duration

  /// - Parameter pause: the minimum time between two requests for the index.
  package init(_ library: ObjectLibrary, pause: Duration = .seconds(2)) {
    self.library = library
    self.pause = pause
  }

  package func version() throws(StorageError) -> Int {
    if let known = asked.withLock({ $0 }), .now - known.at < pause { return known.version }
    let version = try library.refresh()
    asked.withLock { $0 = (.now, version) }
    return version
  }

  package var figures: [SourceFigure] { library.figures }

  package var outage: SourceOutage? { library.sourceOutage }

  package func images() -> [SourceImage] {
    library.images().map { found in
      // There may be a hundred thousand unused entries, so each byte counts.
      SourceImage(id: found.id, path: found.key, identity: found.identity, open: found.image.archive)
    }
  }
}

extension ObjectLibrary {
  /// The minimum duration of an outage that is reported. A single failed or slow request is not.
  private static var shortOutage: Duration { .seconds(10) }

  /// The outage of the index, if it is long enough for a report.
  var sourceOutage: SourceOutage? {
    guard let (time, reason) = outage, time >= Self.shortOutage else { return nil }
    return SourceOutage("the object store", seconds: Int(time / .seconds(1)), reason: reason)
  }

  /// The metrics of the store.
  var figures: [SourceFigure] {
    let (asked, kept) = (client.counts, memory.counts)
    return [
      SourceFigure("store_requests_total", "Questions to the object store.", asked.requests, isTotal: true),
      SourceFigure("store_retries_total", "Of them, those asked again.", asked.retries, isTotal: true),
      SourceFigure(
        "store_faults_total", "Of them, those without a sound answer.", asked.errors, isTotal: true),
      SourceFigure("store_read_bytes_total", "Bytes read from the object store.", asked.bytes, isTotal: true),
      SourceFigure(
        "store_cut_off", "1 while the object store is not asked, since it does not answer.",
        client.isCutOff ? 1 : 0, isTotal: false),
      SourceFigure(
        "store_unread_seconds",
        "Seconds for which the library's directory could not be read; 0 while it can.",
        Int((outage?.time ?? .zero) / .seconds(1)), isTotal: false),
      SourceFigure(
        "store_stray_objects", "Objects below the library's prefix that ziggurat did not write.", strayCount,
        isTotal: false),
      SourceFigure("store_tile_hits_total", "Tiles of the store found in memory.", kept.hits, isTotal: true),
      SourceFigure("store_tile_misses_total", "Tiles that were not.", kept.misses, isTotal: true),
      SourceFigure("store_tile_bytes", "Bytes of the store's tiles in memory.", kept.bytes, isTotal: false),
    ]
  }
}
