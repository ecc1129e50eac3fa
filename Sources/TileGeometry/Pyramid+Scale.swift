extension Pyramid {
  /// Returns the coarsest level whose pixels are at least as fine as a scale requires.
  ///
  /// Every scale above 1/2, and a scale that is not a number, gives full resolution; a scale of 0 or less gives
  /// level 0.
  ///
  /// - Parameter scale: device pixels per image pixel.
  public func level(forScale scale: Double) -> Int {
    var level = topLevel
    var levelScale = 1.0
    while level > 0, levelScale / 2 >= scale {
      levelScale /= 2
      level -= 1
    }
    return level
  }

  /// Returns the number of level pixels per image pixel along a side, exactly 2^(level − topLevel).
  ///
  /// - Parameter level: clamped to `0...topLevel`.
  public func scale(ofLevel level: Int) -> Double {
    Double(sign: .plus, exponent: -shift(ofLevel: level), significand: 1)
  }
}
