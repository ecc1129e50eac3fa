import Synchronization

/// Objects below a library's prefix that Ziggurat did not write, such as copies that somebody made in a console and
/// markers of folders. They are never read, replaced or removed, and each is reported once.
package final class StrayObjects: Sendable {
  private struct State {
    var known: Set<[UInt8]> = []
    /// By where they lie.
    var counts: [ObjectAddress: Int] = [:]
  }

  private let state = Mutex(State())
  private let report: @Sendable (String) -> Void
  /// Keys that are remembered; of more the report says no names.
  private static let most = 1000
  /// Keys that one report names, and bytes of each.
  private static let (named, longest) = (5, 200)

  /// - Parameter report: is given a line of text.
  package init(report: @escaping @Sendable (String) -> Void = { _ in }) { self.report = report }

  /// The number of stray objects in the last lists.
  package var count: Int { state.withLock { $0.counts.values.reduce(0, +) } }

  /// Takes the stray keys of a list, and reports those that are new.
  /// - Parameter place: where they lie.
  func note(_ keys: [[UInt8]], in place: ObjectAddress) {
    let fresh = state.withLock { state -> [[UInt8]] in
      state.counts[place] = keys.count
      guard !keys.isEmpty else { return [] }
      let fresh = keys.filter { !state.known.contains($0) }.prefix(Self.most - state.known.count)
      state.known.formUnion(fresh)
      return Array(fresh)
    }
    guard !fresh.isEmpty else { return }
    let names = fresh.prefix(Self.named).map { "'\(Self.shown($0))'" }.joined(separator: ", ")
    let rest = fresh.count > Self.named ? " and \(fresh.count - Self.named) more" : ""
    let noun = fresh.count == 1 ? "object" : "objects"
    report("\(place): ignoring \(fresh.count) \(noun) that ziggurat did not write: \(names)\(rest)")
  }

  /// A key as it can be shown anywhere: what is not printable ASCII is percent-encoded.
  private static func shown(_ key: [UInt8]) -> String {
    var text = ""
    for byte in key.prefix(longest) {
      let isPlain = (0x20...0x7e).contains(byte) && byte != UInt8(ascii: "%") && byte != UInt8(ascii: "'")
      text +=
        isPlain
        ? String(UnicodeScalar(byte)) : "%" + String(0x100 + Int(byte), radix: 16).dropFirst().uppercased()
    }
    return key.count > longest ? text + "…" : text
  }
}
