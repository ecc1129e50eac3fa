/// Powers and logarithms to base 2, which the C library would otherwise have to provide.
enum BinaryLogarithm {
  /// Returns the logarithm of a positive finite number, accurate to 2^-50 relative to max(1, |result|).
  ///
  /// ln m = 2 artanh((m − 1) / (m + 1)) for the significand m, brought within √½…√2.
  static func log2(_ value: Double) -> Double {
    var (exponent, significand) = (Double(value.exponent), value.significand)
    if significand > 1.414_213_562_373_095 { (exponent, significand) = (exponent + 1, significand / 2) }
    let ratio = (significand - 1) / (significand + 1)
    let square = ratio * ratio
    // square ≤ 0.0295, so that the first omitted term is below 2^-60.
    var sum = 0.0
    var divisor = 23.0
    while divisor >= 1 {
      sum = sum * square + 1 / divisor
      divisor -= 2
    }
    return exponent + 2 * ratio * sum * log2OfE
  }

  /// Returns 2^`power` for |power| ≤ 1000, accurate to 2^-50 relative to the result.
  ///
  /// Taylor's series of e^(f ln 2) for the fraction f, |f| ≤ ½, below which the whole power is an exponent.
  static func exp2(_ power: Double) -> Double {
    let whole = Int(power < 0 ? power - 0.5 : power + 0.5)
    let argument = (power - Double(whole)) / log2OfE
    // |argument| ≤ 0.347, so that the first omitted term is below 2^-60.
    var sum = 1.0
    var divisor = 15.0
    while divisor >= 1 {
      sum = 1 + argument / divisor * sum
      divisor -= 1
    }
    return sum * Double(sign: .plus, exponent: whole, significand: 1)
  }

  /// log₂ e.
  private static var log2OfE: Double { 1.442_695_040_888_963_4 }
}
