/// How near a tile comes to its source, and by which way it is made.
public struct Fidelity: Hashable, Sendable {
  /// The word for it on the command line.
  public let name: String

  /// Each JPEG tile byte for byte what `vips dzsave` writes but for a JFIF header; lossless tiles with
  /// its pixels.
  public static let exact = Fidelity(known: "exact")
  /// Samples stay as the source stores them where it allows; otherwise as `exact`.
  public static let fast = Fidelity(known: "fast")
  /// Full resolution without another generation of loss where the source allows; otherwise as `fast`.
  public static let lossless = Fidelity(known: "lossless")
  /// `lossless` where that costs no more bytes than encoding anew, else `fast`.
  public static let auto = Fidelity(known: "auto")

  /// All that there are, the strictest first.
  public static let all: [Fidelity] = [.exact, .fast, .lossless, .auto]

  /// The fidelity of that name; nil for any other word.
  public init?(name: String) {
    guard let known = Self.all.first(where: { $0.name == name }) else { return nil }
    self = known
  }

  private init(known name: String) { self.name = name }
}
