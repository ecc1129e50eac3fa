import Synchronization
package import TileStorage

/// Damage of one source that its decoders notice, from any thread.
final class DamageLog: Sendable {
  private struct State {
    var worst: SourceDamage?
    /// The first sign that the file ends early.
    var truncation: SourceDamage?
    /// Tiles or strips that could not be decoded, by the number of their page and their own.
    var lost: [Int: Set<Int>] = [:]
    var firstLoss = SourceDamage(.warning, "")

    mutating func noteTruncation(_ damage: SourceDamage) {
      if damage.kind == .truncated, truncation == nil { truncation = damage }
    }
  }

  private let state = Mutex(State())

  /// The worst that was noticed, with the reason that was given first.
  var worst: SourceDamage? {
    state.withLock { state in
      guard !state.lost.isEmpty, state.firstLoss.kind >= state.worst?.kind ?? .warning else {
        return state.worst
      }
      let others = state.lost.values.reduce(0) { $0 + $1.count } - 1
      return SourceDamage(
        state.firstLoss.kind, state.firstLoss.reason + (others == 0 ? "" : ", and \(others) more"))
    }
  }

  /// The damage for which a build refuses the file; nil if it takes it. A file that ends early may have worse flaws,
  /// too.
  func refused(by failOn: FailOn) -> SourceDamage? {
    [worst, truncation].compactMap(\.self).first(where: failOn.refuses)
  }

  /// The first sign that the file ends early; nil if there is none.
  var truncation: SourceDamage? { state.withLock { $0.truncation } }

  /// - Parameter reason: a clause about the file.
  func add(_ kind: SourceDamage.Kind, _ reason: String) { add(SourceDamage(kind, reason)) }

  func add(_ damage: SourceDamage?) {
    guard let damage else { return }
    state.withLock { state in
      if state.worst.map({ $0.kind < damage.kind }) ?? true { state.worst = damage }
      state.noteTruncation(damage)
    }
  }

  /// Adds a tile or strip without any decoded pixel.
  ///
  /// - Parameter page: the page, counted from 0; channels of one picture are pages.
  func add(lost part: Int, ofPage page: Int = 0, _ damage: SourceDamage) {
    state.withLock { state in
      if state.lost.isEmpty { state.firstLoss = damage }
      state.lost[page, default: []].insert(part)
      state.noteTruncation(damage)
    }
  }

  /// The number of different tiles or strips of a page that are lost.
  func lostParts(ofPage page: Int = 0) -> Int { state.withLock { $0.lost[page]?.count ?? 0 } }
}

/// The damage of a source for which a build refuses it; the levels of libvips' `fail-on`.
package struct FailOn: NamedChoice, Hashable, Sendable {
  package let name: String

  /// Whether a file that can be decoded in part is built.
  package static let none = FailOn(known: "none")
  /// Files that end early are refused.
  package static let truncated = FailOn(known: "truncated")
  /// Files with lost or wrong pixels, too.
  package static let error = FailOn(known: "error")
  /// Any damage.
  package static let warning = FailOn(known: "warning")

  package static let all: [FailOn] = [.none, .truncated, .error, .warning]

  private init(known name: String) { self.name = name }

  /// Whether a source with such damage is refused.
  package func refuses(_ damage: SourceDamage) -> Bool {
    switch damage.kind {
    case .truncated: self != .none
    case .error: self == .error || self == .warning
    case .warning: self == .warning
    }
  }
}
