import Glibc
package import Synchronization
import ZigguratTileRendering

/// Counters of responses. Each thread adds to counters on its own cache lines, so that threads do not contend. They
/// are summed when metrics are read.
package final class Metrics: Sendable {
  private static let statuses = [
    200, 201, 204, 206, 303, 304, 400, 401, 403, 404, 405, 409, 410, 412, 413, 414, 415, 416, 421, 429, 431,
    500,
    501,
    503,
    507,
  ]
  /// Upper bounds of the latency buckets, in microseconds. The last bucket is unbounded.
  private static let bounds = [
    100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100_000, 500_000, 2_500_000, 10_000_000, 30_000_000,
  ]
  private static let routes = Route.labels.count

  // The counters of one route: one per status, one for other statuses, one per latency bucket, the sum of
  // latencies, and the bytes.
  private static let statusCells = statuses.count + 1
  private static let latencyCells = bounds.count + 1
  private static let cells = statusCells + latencyCells + 2

  private static let shards = 16
  /// The counters of a shard, rounded up to whole cache lines.
  private static let stride = (routes * cells + 7) / 8 * 8

  // Atomics at a fixed address: safe to share.
  nonisolated(unsafe) private let counters: UnsafeMutablePointer<Atomic<Int>>
  package let connections = Atomic<Int>(0)
  /// Lines of the access log that could not be written.
  package let lostLogLines = Atomic<Int>(0)
  /// Login attempts with a wrong password or token, and attempts that were refused before they were tried.
  let refusedLogins = Atomic<Int>(0)
  /// Free bytes on the disks of the library and of uploads at the last check; negative if unknown. They are not
  /// measured for a response, because a network share that hangs would block the event loop.
  let libraryFree = Atomic<Int>(-1)
  let uploadsFree = Atomic<Int>(-1)

  package init() {
    counters = .allocate(capacity: Self.shards * Self.stride)
    for at in 0..<Self.shards * Self.stride { (counters + at).initialize(to: Atomic(0)) }
  }

  deinit {
    counters.deinitialize(count: Self.shards * Self.stride)
    counters.deallocate()
  }

  /// Counts a response that was sent.
  package func add(_ route: Route, status: Int, bytes: Int, microseconds: Int) {
    // The control blocks of threads are pages apart.
    let shard = Int(truncatingIfNeeded: pthread_self() >> 12) % Self.shards
    let base =
      counters + (shard < 0 ? shard + Self.shards : shard) * Self.stride + route.label * Self.cells
    func count(_ cell: Int, _ amount: Int) { base[cell].wrappingAdd(amount, ordering: .relaxed) }
    var at = 0
    while at < Self.bounds.count, Self.bounds[at] < microseconds { at += 1 }
    count(Self.statusCells + at, 1)
    count(Self.cells - 2, microseconds)
    count(Self.cells - 1, bytes)
    at = 0
    while at < Self.statuses.count, Self.statuses[at] != status { at += 1 }
    // The status is counted last: a reader that sees the response counted also sees its bytes and its time.
    base[at].wrappingAdd(1, ordering: .releasing)
  }

  private func sum(_ route: Int, _ cell: Int) -> Int {
    (0..<Self.shards).reduce(0) {
      $0 + counters[$1 * Self.stride + route * Self.cells + cell].load(ordering: .relaxed)
    }
  }

  /// Returns the metrics in the Prometheus text format 0.0.4.
  /// - Parameters:
  ///   - gauges: further metrics: name, help, value, and whether the metric is a counter.
  ///   - version: the version of the program.
  func text(
    _ gauges: [(name: String, help: String, value: Int, isCounter: Bool)], version: String
  ) -> String {
    var text = Self.head("ziggurat_build_info", "gauge", "1, labelled with what runs.")
    text += "ziggurat_build_info{version=\"\(version)\",libvips=\"\(TileRenderer.libvips)\"} 1\n"
    text += Self.head("ziggurat_requests_total", "counter", "Answers by route and status.")
    for (route, name) in Route.labels.enumerated() {
      for at in 0...Self.statuses.count {
        let value = sum(route, at)
        guard value > 0 else { continue }
        let status = at < Self.statuses.count ? String(Self.statuses[at]) : "other"
        text += "ziggurat_requests_total{route=\"\(name)\",status=\"\(status)\"} \(value)\n"
      }
    }
    text += Self.head("ziggurat_sent_bytes_total", "counter", "Bytes of answers, without headers.")
    for (route, name) in Route.labels.enumerated() {
      text += "ziggurat_sent_bytes_total{route=\"\(name)\"} \(sum(route, Self.cells - 1))\n"
    }
    let histogram = "ziggurat_request_duration_seconds"
    text += Self.head(histogram, "histogram", "From a request's headers to the end of its answer.")
    for (route, name) in Route.labels.enumerated() {
      var count = 0
      for (at, bound) in (Self.bounds + [-1]).enumerated() {
        count += sum(route, Self.statusCells + at)
        let edge = bound < 0 ? "+Inf" : "\(Double(bound) / 1_000_000)"
        text += "\(histogram)_bucket{route=\"\(name)\",le=\"\(edge)\"} \(count)\n"
      }
      let seconds = Double(sum(route, Self.cells - 2)) / 1_000_000
      text +=
        "\(histogram)_sum{route=\"\(name)\"} \(seconds)\n\(histogram)_count{route=\"\(name)\"} \(count)\n"
    }
    for gauge in gauges {
      text += Self.head("ziggurat_\(gauge.name)", gauge.isCounter ? "counter" : "gauge", gauge.help)
      text += "ziggurat_\(gauge.name) \(gauge.value)\n"
    }
    for figure in ProcessFigures.now {
      text += Self.head("process_\(figure.name)", figure.isTotal ? "counter" : "gauge", figure.help)
      text += "process_\(figure.name) \(figure.value)\n"
    }
    return text
  }

  private static func head(_ name: String, _ type: String, _ help: String) -> String {
    "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }
}
