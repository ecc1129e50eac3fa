import Glibc
package import Synchronization

/// What part of the server a request went to, known by its path alone.
package enum Route: Int, CaseIterable, Sendable {
  case deepZoom, xyz, zoomify, iiif2, iiif3, presentation, api, page, health, metrics

  var name: String {
    switch self {
    case .deepZoom: "dzi"
    case .health: "healthz"
    default: "\(self)"
    }
  }

  /// - Parameter path: as sent.
  package init(_ path: UnsafeRawBufferPointer) {
    guard path.count > 4 else {
      self = .page
      return
    }
    switch (path[1], path[2], path[3], path[4]) {
    case (0x64, 0x7a, 0x69, 0x2f): self = .deepZoom  // dzi/
    case (0x78, 0x79, 0x7a, 0x2f): self = .xyz  // xyz/
    case (0x7a, 0x6f, 0x6f, 0x6d): self = .zoomify  // zoom
    case (0x61, 0x70, 0x69, 0x2f): self = .api  // api/
    case (0x68, 0x65, 0x61, 0x6c): self = .health  // heal
    case (0x6d, 0x65, 0x74, 0x72): self = .metrics  // metr
    case (0x69, 0x69, 0x69, 0x66):  // iiif
      switch path.count > 6 ? path[6] : 0 {
      case 0x32: self = .iiif2
      case 0x33: self = .iiif3
      case 0x70: self = .presentation
      default: self = .page
      }
    default: self = .page
    }
  }
}

/// What was answered, counted by threads that do not wait for each other: each adds to counters of its own
/// cache lines, which are summed when somebody asks.
package final class Metrics: Sendable {
  private static let statuses = [
    200, 201, 204, 206, 303, 304, 400, 401, 403, 404, 405, 409, 410, 412, 413, 414, 415, 416, 421, 429, 500,
    501,
    503,
    507,
  ]
  /// Upper bounds, microseconds; what takes longer counts in the last, unbounded one.
  private static let bounds = [
    100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100_000, 500_000, 2_500_000,
  ]
  private static let routes = Route.allCases.count

  // One route's cells: a count for each status and one for all others, a count for each latency, the
  // latencies' sum, and the bytes.
  private static let statusCells = statuses.count + 1
  private static let latencyCells = bounds.count + 1
  private static let cells = statusCells + latencyCells + 2

  private static let shards = 16
  /// Rounded up to whole cache lines.
  private static let stride = (routes * cells + 7) / 8 * 8

  // Atomics at an address that stays: safe to share.
  nonisolated(unsafe) private let counters: UnsafeMutablePointer<Atomic<Int>>
  package let connections = Atomic<Int>(0)

  package init() {
    counters = .allocate(capacity: Self.shards * Self.stride)
    for at in 0..<Self.shards * Self.stride { (counters + at).initialize(to: Atomic(0)) }
  }

  deinit {
    counters.deinitialize(count: Self.shards * Self.stride)
    counters.deallocate()
  }

  /// An answer was sent.
  package func add(_ route: Route, status: Int, bytes: Int, microseconds: Int) {
    // Threads' control blocks lie pages apart.
    let shard = Int(truncatingIfNeeded: pthread_self() >> 12) % Self.shards
    let base =
      counters + (shard < 0 ? shard + Self.shards : shard) * Self.stride + route.rawValue * Self.cells
    func count(_ cell: Int, _ amount: Int) { base[cell].wrappingAdd(amount, ordering: .relaxed) }
    var at = 0
    while at < Self.bounds.count, Self.bounds[at] < microseconds { at += 1 }
    count(Self.statusCells + at, 1)
    count(Self.cells - 2, microseconds)
    count(Self.cells - 1, bytes)
    at = 0
    while at < Self.statuses.count, Self.statuses[at] != status { at += 1 }
    // Last: who finds the answer counted finds its bytes and its time counted, too.
    base[at].wrappingAdd(1, ordering: .releasing)
  }

  private func sum(_ route: Route, _ cell: Int) -> Int {
    (0..<Self.shards).reduce(0) {
      $0 + counters[$1 * Self.stride + route.rawValue * Self.cells + cell].load(ordering: .relaxed)
    }
  }

  /// In Prometheus' text format 0.0.4.
  /// - Parameter gauges: what is told besides: name, help, value, and whether it only grows.
  func text(_ gauges: [(name: String, help: String, value: Int, isCounter: Bool)]) -> String {
    var text = Self.head("ziggurat_requests_total", "counter", "Answers by route and status.")
    for route in Route.allCases {
      for at in 0...Self.statuses.count {
        let value = sum(route, at)
        guard value > 0 else { continue }
        let status = at < Self.statuses.count ? String(Self.statuses[at]) : "other"
        text += "ziggurat_requests_total{route=\"\(route.name)\",status=\"\(status)\"} \(value)\n"
      }
    }
    text += Self.head("ziggurat_sent_bytes_total", "counter", "Bytes of answers, without headers.")
    for route in Route.allCases {
      text += "ziggurat_sent_bytes_total{route=\"\(route.name)\"} \(sum(route, Self.cells - 1))\n"
    }
    let name = "ziggurat_request_duration_seconds"
    text += Self.head(name, "histogram", "From a request's headers to the end of its answer.")
    for route in Route.allCases {
      var count = 0
      for (at, bound) in (Self.bounds + [-1]).enumerated() {
        count += sum(route, Self.statusCells + at)
        let edge = bound < 0 ? "+Inf" : "\(Double(bound) / 1_000_000)"
        text += "\(name)_bucket{route=\"\(route.name)\",le=\"\(edge)\"} \(count)\n"
      }
      let seconds = Double(sum(route, Self.cells - 2)) / 1_000_000
      text +=
        "\(name)_sum{route=\"\(route.name)\"} \(seconds)\n\(name)_count{route=\"\(route.name)\"} \(count)\n"
    }
    for gauge in gauges {
      text += Self.head("ziggurat_\(gauge.name)", gauge.isCounter ? "counter" : "gauge", gauge.help)
      text += "ziggurat_\(gauge.name) \(gauge.value)\n"
    }
    return text
  }

  private static func head(_ name: String, _ type: String, _ help: String) -> String {
    "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }
}
