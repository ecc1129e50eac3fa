import Synchronization

/// Objects below a library's prefix that Ziggurat did not write, such as copies that somebody made in a console and
/// markers of folders. They are never read, replaced or removed, and each is reported once.
package final class StrayObjects: Sendable {
  private struct State {
    var known: Set<[UInt8]> = []
    /// The number of objects in each place.
    var counts: [ObjectAddress: Int] = [:]
  }

  private let state = Mutex(State())
  private let report: @Sendable (String) -> Void
  /// The maximum number of remembered keys. A report names no others.
  private static let maximum = 1000
  /// The maximum number of keys in a report, and the maximum length of each in bytes.
  private static let (named, maxLength) = (5, 200)

  /// - Parameter report: called with a line of text.
  package init(report: @escaping @Sendable (String) -> Void = { _ in }) { self.report = report }

  /// The number of stray objects in the last lists.
  package var count: Int { state.withLock { $0.counts.values.reduce(0, +) } }

  /// Takes the stray keys of a list, and reports the new ones.
  /// - Parameter place: the place of the list.
  func note(_ keys: [[UInt8]], in place: ObjectAddress) {
    let fresh = state.withLock { state -> [[UInt8]] in
      state.counts[place] = keys.count
      guard !keys.isEmpty else { return [] }
      let fresh = keys.filter { !state.known.contains($0) }.prefix(Self.maximum - state.known.count)
      state.known.formUnion(fresh)
      return Array(fresh)
    }
    guard !fresh.isEmpty else { return }
    let names = fresh.prefix(Self.named).map { "'\(Self.shown($0))'" }.joined(separator: ", ")
    let rest = fresh.count > Self.named ? " and \(fresh.count - Self.named) more" : ""
    let noun = fresh.count == 1 ? "object" : "objects"
    report("\(place): ignoring \(fresh.count) \(noun) that ziggurat did not write: \(names)\(rest)")
  }

  /// Returns a key as text that can be shown anywhere. Bytes other than printable ASCII are percent-encoded.
  private static func shown(_ key: [UInt8]) -> String {
    var text = ""
    for byte in key.prefix(maxLength) {
      let isPlain = (0x20...0x7e).contains(byte) && byte != UInt8(ascii: "%") && byte != UInt8(ascii: "'")
      text +=
        isPlain
        ? String(UnicodeScalar(byte)) : "%" + String(0x100 + Int(byte), radix: 16).dropFirst().uppercased()
    }
    return key.count > maxLength ? text + "…" : text
  }
}
