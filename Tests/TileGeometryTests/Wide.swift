import Foundation

/// Arithmetic for oracles: finer than what they judge, where the processor has it.
#if arch(x86_64)
  typealias Wide = Float80
#else
  typealias Wide = Double
#endif

/// Sine and cosine from the C library, of degrees reduced without error: a remainder is exact.
func wideSineCosine(degrees: Double) -> (sine: Wide, cosine: Wide) {
  let turn = degrees.truncatingRemainder(dividingBy: 360)
  let rest = turn.remainder(dividingBy: 90)
  let radians = Wide(rest) * Wide.pi / 180
  let (sine, cosine) = (Foundation.sin(radians), Foundation.cos(radians))
  switch Int((turn - rest) / 90) & 3 {
  case 0: return (sine, cosine)
  case 1: return (cosine, -sine)
  case 2: return (-sine, -cosine)
  default: return (-cosine, sine)
  }
}
