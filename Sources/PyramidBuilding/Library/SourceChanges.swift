import Glibc
import TileStorage
import ZigguratFiles

/// Detects sources that have changed since they were last built, by the sizes and times of their files.
///
/// A source is the pair of a path and an id: a file that gets another id is another image.
package struct SourceChanges: Sendable {
  /// A source's file and the sidecar beside it.
  private struct Files: Equatable, Sendable {
    let picture: FileIdentity
    let sidecar: FileIdentity?
  }

  /// The state of files at a scan, and the start of that state.
  private struct Sight: Sendable {
    let file: Files
    let since: ContinuousClock.Instant
  }

  private var built: [SourceScan.Source: Sight] = [:]
  private var unsettled: [SourceScan.Source: Sight] = [:]
  /// Sources that failed while they were fresh; not rebuilt before their files are stable.
  private var postponed: [SourceScan.Source: Sight] = [:]

  /// The time for which a file must stay unchanged before an error in it counts. Before that, a slow copy may be the
  /// cause.
  package static let stillness = Duration.seconds(5)

  package init() {}

  /// Whether some file differed between two scans or is not stable yet, so that another scan is needed.
  package var isUnsettled: Bool { !unsettled.isEmpty || !postponed.isEmpty }

  /// The sizes in bytes of the files that are not stable yet.
  package var unsettledSizes: Set<Int> {
    Set((Array(unsettled.values) + Array(postponed.values)).map(\.file.picture.size))
  }

  /// Returns the sources to build now. They are new or changed, and equal at this scan and the one before, so that an
  /// incomplete copy is not built. Scans should be seconds apart.
  package mutating func settled(
    of sources: [SourceScan.Source], now: ContinuousClock.Instant = .now
  ) -> [SourceScan.Source] {
    var moving: [SourceScan.Source: Sight] = [:]
    var waiting: [SourceScan.Source: Sight] = [:]
    let ready = sources.filter { source in
      guard let file = Self.files(source), file != built[source]?.file else { return false }
      if let sight = postponed[source], sight.file == file {
        if now - sight.since >= Self.stillness {
          unsettled[source] = sight
          return true
        }
        waiting[source] = sight
        return false
      }
      if unsettled[source]?.file == file { return true }
      moving[source] = Sight(file: file, since: now)
      return false
    }
    for source in ready { moving[source] = unsettled[source] }
    unsettled = moving
    postponed = waiting
    let known = Set(sources)
    built = built.filter { known.contains($0.key) }
    return ready
  }

  /// Records sources that are about to be built. The next scan detects changes during the build.
  package mutating func remember(_ sources: [SourceScan.Source], now: ContinuousClock.Instant = .now) {
    for source in sources {
      let sight = unsettled.removeValue(forKey: source)
      built[source] = Self.files(source).map { file in
        guard let sight else { return Sight(file: file, since: now - Self.age(source.path)) }
        return sight.file == file ? sight : Sight(file: file, since: now)
      }
    }
  }

  /// Whether the source may still be being written: it has changed since `remember`, or shortly before.
  package func isFresh(_ source: SourceScan.Source, now: ContinuousClock.Instant = .now) -> Bool {
    guard let sight = built[source], sight.file == Self.files(source) else { return true }
    return now - sight.since < Self.stillness
  }

  /// Rebuilds a source that failed while it was fresh, once it is stable.
  package mutating func postpone(_ source: SourceScan.Source) {
    postponed[source] = built.removeValue(forKey: source)
  }

  /// Forgets a source, so that the next scan builds it again: the cause of its failure may be temporary.
  package mutating func forget(_ source: SourceScan.Source) { built[source] = nil }

  private static func files(_ source: SourceScan.Source) -> Files? {
    var status = stat()
    guard stat(source.path, &status) == 0 else { return nil }
    return Files(picture: FileIdentity(status), sidecar: SourceSidecar.file(of: source)?.identity)
  }

  /// Returns the time since the file's status change, at most `stillness`. The modification time may come from the
  /// original of a copy.
  private static func age(_ path: String) -> Duration {
    var (status, now) = (stat(), timespec())
    guard stat(path, &status) == 0, clock_gettime(CLOCK_REALTIME, &now) == 0 else { return stillness }
    let age = Duration.seconds(now.tv_sec - status.st_ctim.tv_sec)
    // The clock of another machine may be ahead.
    return age < .seconds(-60) ? stillness : min(max(age, .zero), stillness)
  }
}
