/// Damage of a source from which an archive was built nevertheless.
public struct SourceDamage: Codable, Hashable, Sendable {
  /// A degree of damage, from the least to the worst, with the names of libvips' `fail-on`.
  @nonexhaustive
  public enum Kind: String, Codable, CaseIterable, Comparable, Sendable {
    /// The pixels are whole; something else in the file is not.
    case warning
    /// The file ends before its image does.
    case truncated
    /// Pixels are lost or wrong.
    case error

    /// Whether the one is less damage than the other.
    public static func < (one: Kind, other: Kind) -> Bool {
      allCases.firstIndex(of: one)! < allCases.firstIndex(of: other)!
    }
  }

  /// The worst degree that was found.
  public let kind: Kind
  /// The damage, in a clause about the file.
  public let reason: String

  /// Creates damage of a degree.
  package init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }
}
