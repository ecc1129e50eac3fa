import Glibc
import TileStorage
import ZigguratFiles

/// The sources that have changed since they were last built, by the sizes and times of their files.
///
/// A source is its path and its id together: a file that gets another id is another image.
package struct SourceChanges: Sendable {
  /// A source's file and the sidecar beside it.
  private struct Files: Equatable, Sendable {
    let picture: FileIdentity
    let sidecar: FileIdentity?
  }

  /// Files as they were at a look, and since when they have been so.
  private struct Sight: Sendable {
    let file: Files
    let since: ContinuousClock.Instant
  }

  private var built: [SourceScan.Source: Sight] = [:]
  private var unsettled: [SourceScan.Source: Sight] = [:]
  /// Failed while they were fresh: not to be built again before they have been still for a while.
  private var postponed: [SourceScan.Source: Sight] = [:]

  /// The time for which a file stays unchanged before an error in it is taken as its own, and not as that of a slow
  /// copy.
  package static let stillness = Duration.seconds(5)

  package init() {}

  /// Some file was different from one look to the next, or is given time: another look is needed.
  package var isUnsettled: Bool { !unsettled.isEmpty || !postponed.isEmpty }

  /// Bytes of the files that are given time.
  package var unsettledSizes: Set<Int> {
    Set((Array(unsettled.values) + Array(postponed.values)).map(\.file.picture.size))
  }

  /// Returns the sources to build now. They are new or have changed, and are the same at this look as at the one
  /// before it, so that a picture which is being copied is left alone. The looks are to be seconds apart.
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

  /// Records sources that are about to be built. A change during the build is seen at the next look.
  package mutating func remember(_ sources: [SourceScan.Source], now: ContinuousClock.Instant = .now) {
    for source in sources {
      let sight = unsettled.removeValue(forKey: source)
      built[source] = Self.files(source).map { file in
        guard let sight else { return Sight(file: file, since: now - Self.age(source.path)) }
        return sight.file == file ? sight : Sight(file: file, since: now)
      }
    }
  }

  /// Whether the source may still be being written: it has changed since `remember`, or only just before.
  package func isFresh(_ source: SourceScan.Source, now: ContinuousClock.Instant = .now) -> Bool {
    guard let sight = built[source], sight.file == Self.files(source) else { return true }
    return now - sight.since < Self.stillness
  }

  /// The source, which failed while it was fresh, is built again when it has been still for a while.
  package mutating func postpone(_ source: SourceScan.Source) {
    postponed[source] = built.removeValue(forKey: source)
  }

  /// The source's next look finds it changed: a fault that may have passed by then kept it from being built.
  package mutating func forget(_ source: SourceScan.Source) { built[source] = nil }

  private static func files(_ source: SourceScan.Source) -> Files? {
    var status = stat()
    guard stat(source.path, &status) == 0 else { return nil }
    return Files(picture: FileIdentity(status), sidecar: SourceSidecar.file(of: source)?.identity)
  }

  /// Since the file was last touched, at most `stillness`. Not the time of its content, which a copy may
  /// have from its original.
  private static func age(_ path: String) -> Duration {
    var (status, now) = (stat(), timespec())
    guard stat(path, &status) == 0, clock_gettime(CLOCK_REALTIME, &now) == 0 else { return stillness }
    let age = Duration.seconds(now.tv_sec - status.st_ctim.tv_sec)
    // Another machine's clock may be ahead of this one's.
    return age < .seconds(-60) ? stillness : min(max(age, .zero), stillness)
  }
}
