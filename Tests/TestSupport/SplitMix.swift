import Foundation

/// SplitMix64: the same numbers from the same seed on every machine.
public struct SplitMix: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(_ seed: UInt64) { state = seed }

  /// For tests that look elsewhere on every run: `SEED`, or the clock's. Tests print it where
  /// they fail, to repeat what they saw.
  public static let runSeed: UInt64 =
    ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) }
    ?? UInt64(Date().timeIntervalSince1970 * 1000)

  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// 0..<bound.
  public mutating func below(_ bound: Int) -> Int { Int(next() >> 1) % bound }

  /// 0..<1, on a grid of 2^-53.
  public mutating func unit() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

  public mutating func number(_ low: Double, _ high: Double) -> Double { low + (high - low) * unit() }

  /// True once in `part` times.
  public mutating func sometimes(_ part: Int) -> Bool { below(part) == 0 }

  /// 1…2^bits, every magnitude as likely as any other.
  public mutating func side(bits: Int) -> Int { 1 + below(1 << (1 + below(bits))) }

  public mutating func pick<Element>(_ choices: [Element]) -> Element { choices[below(choices.count)] }
}
