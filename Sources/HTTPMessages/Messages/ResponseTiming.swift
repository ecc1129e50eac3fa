/// A part of the time that a response took, for the header `Server-Timing` (W3C Server Timing).
package struct ResponseTiming: Sendable {
  /// The name: `queue`, `render`, `fetch` or `total`.
  package let name: String
  package let duration: Duration

  package init(_ name: String, _ duration: Duration) {
    self.name = name
    self.duration = duration
  }

  /// The header's value in milliseconds: `render;dur=12.3`.
  package var text: String {
    let tenths = Int((max(.zero, duration) / .microseconds(100)).rounded())
    return "\(name);dur=\(tenths / 10).\(tenths % 10)"
  }
}
