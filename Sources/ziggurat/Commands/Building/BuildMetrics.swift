import Foundation
import ZigguratFiles

/// The outcome of a build in Prometheus' text format 0.0.4, for node_exporter's textfile collector.
struct BuildMetrics {
  let text: String

  /// - Parameter seconds: the duration of the build.
  init(_ tally: BuildSummary, _ code: ExitCode, seconds: Double) {
    var text = ""
    func add(_ name: String, _ help: String, _ samples: [(labels: String, value: String)]) {
      text += "# HELP ziggurat_last_build_\(name) \(help)\n# TYPE ziggurat_last_build_\(name) gauge\n"
      for sample in samples { text += "ziggurat_last_build_\(name)\(sample.labels) \(sample.value)\n" }
    }
    add(
      "end_time_seconds", "End of the last build in seconds since 1970.",
      [("", "\(Date().timeIntervalSince1970)")])
    add("duration_seconds", "Duration of the last build in seconds.", [("", "\(seconds)")])
    add(
      "exit_code",
      "Exit code of the last build: 0 if all images are built, 1 if some failed, 75 if a retry may help.",
      [("", "\(code.number)")])
    add(
      "images", "Images of the last build by outcome.",
      tally.counts.map { ("{outcome=\"\($0.outcome)\"}", "\($0.count)") })
    self.text = text
  }

  /// Throws if `write(to:)` would replace another kind of file.
  static func requireReplaceable(_ path: String) throws(StorageError) {
    try ReplacedFile.require(path, beginsWith: "# HELP ziggurat_last_build_", "a metrics file of a build")
  }

  /// Replaces the file atomically. All users may read it, because the collector runs as another user.
  func write(to path: String) throws(StorageError) {
    let file = try AtomicFile(destination: path)
    try file.write(Array(text.utf8))
    try file.publish(mode: 0o644)
  }
}
