extension Pyramid {
  /// The coarsest level whose pixels are at least as fine as `scale` asks for;
  /// full resolution for every scale above 1/2.
  ///
  /// - Parameter scale: device pixels per image pixel, above 0.
  public func level(forScale scale: Double) -> Int {
    var level = topLevel
    var levelScale = 1.0
    while level > 0, levelScale / 2 >= scale {
      levelScale /= 2
      level -= 1
    }
    return level
  }

  /// Level pixels per image pixel, exactly 2^(level − topLevel).
  public func scale(ofLevel level: Int) -> Double {
    Double(sign: .plus, exponent: -shift(ofLevel: level), significand: 1)
  }
}
