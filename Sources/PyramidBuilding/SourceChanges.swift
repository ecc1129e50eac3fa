import Glibc
import TileStorage

/// Which sources have changed since they were last built, as far as their files' sizes and times tell.
public struct SourceChanges {
  private var built: [String: FileIdentity] = [:]
  private var unsettled: [String: FileIdentity] = [:]

  public init() {}

  /// Some file was different from one look to the next: it is still being written.
  public var isUnsettled: Bool { !unsettled.isEmpty }

  /// Those to build now: new or changed, and the same at this look as at the one before it, so that a
  /// picture which is being copied is left alone. The looks are to be seconds apart.
  public mutating func settled(of sources: [SourceScan.Source]) -> [SourceScan.Source] {
    var moving: [String: FileIdentity] = [:]
    let ready = sources.filter { source in
      guard let now = Self.identity(source.path), now != built[source.path] else { return false }
      if unsettled[source.path] == now { return true }
      moving[source.path] = now
      return false
    }
    unsettled = moving
    let known = Set(sources.map(\.path))
    built = built.filter { known.contains($0.key) }
    return ready
  }

  /// Those that are about to be built: what changes during it is seen at the next look.
  public mutating func remember(_ sources: [SourceScan.Source]) {
    for source in sources { built[source.path] = Self.identity(source.path) }
  }

  /// The source's next look finds it changed: a fault that may have passed by then kept it from being built.
  public mutating func forget(_ path: String) { built[path] = nil }

  private static func identity(_ path: String) -> FileIdentity? {
    var status = stat()
    return stat(path, &status) == 0 ? FileIdentity(status) : nil
  }
}
