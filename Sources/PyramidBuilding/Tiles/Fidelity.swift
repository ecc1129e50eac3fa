/// The fidelity of tiles to their source, which decides how they are made.
public struct Fidelity: NamedChoice, Hashable, Sendable {
  /// The word for it on the command line.
  package let name: String

  /// All pixels are decoded and encoded again. JPEG tiles equal those of `vips dzsave` but for their JFIF header; tiles
  /// in lossless formats have the same pixels.
  public static let exact = Fidelity(known: "exact")
  /// JPEG tiles from a JPEG source with 4:2:0 keep its luma and chroma samples. Otherwise the same as `exact`.
  public static let fast = Fidelity(known: "fast")
  /// JPEG tiles of full resolution reuse the DCT coefficients of a JPEG source, without loss. Otherwise the same as
  /// `fast`.
  public static let lossless = Fidelity(known: "lossless")
  /// `lossless` for slides, and for other images if the result is no larger; otherwise `fast`. The default.
  public static let auto = Fidelity(known: "auto")

  /// All fidelities, the strictest first.
  package static let all: [Fidelity] = [.exact, .fast, .lossless, .auto]

  private init(known name: String) { self.name = name }
}
