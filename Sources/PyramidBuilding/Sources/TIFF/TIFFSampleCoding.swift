import ZigguratCTIFF
import ZigguratImaging

/// The conversion of a TIFF's samples, as they lie in its rows, to numbers of the machine (TIFF 6.0; Adobe's TIFF
/// Technical Note 3 for floats of 16 and 24 bits).
struct TIFFSampleCoding {
  private enum Kind { case unsigned, signed, float }

  /// The kind of numbers that come of it.
  let type: SampleType
  /// Whether floats have 64 bits; those of integers of 64 bits, too, which are rounded.
  let isDouble: Bool
  /// Bytes of one number.
  let size: Int
  private let kind: Kind
  /// Bits that numbers have, and bits that they take in a row.
  private let bits, storedBits: Int
  /// Whether numbers are spread over the whole of 8 or 16 bits.
  private let isSpread: Bool

  /// Returns `nil` if such samples do not exist, or are not supported.
  ///
  /// - Parameters:
  ///   - storedBits: the bits of a sample in a row; nil if that is `bits`.
  ///   - isSpread: whether to scale the samples' range to unsigned numbers of 8 or 16 bits; the range of floats is 0 to
  ///     1. Otherwise only samples of fewer than 8 bits are scaled.
  init?(format: Int32, bits: Int, storedBits: Int? = nil, isSpread: Bool = false) {
    switch format {
    case SAMPLEFORMAT_UINT where 1...32 ~= bits || bits == 64: kind = .unsigned
    case SAMPLEFORMAT_INT where !isSpread && (2...32 ~= bits || bits == 64): kind = .signed
    case SAMPLEFORMAT_IEEEFP where [16, 24, 32, 64].contains(bits): kind = .float
    default: return nil
    }
    self.bits = bits
    self.storedBits = storedBits ?? bits
    self.isSpread = isSpread
    let widths: (SampleType, Int)
    switch (kind, bits) {
    case (.unsigned, ...8): widths = (.byte, 1)
    case (_, _) where isSpread: widths = (.unsigned16, 2)
    case (.unsigned, ...16): widths = (.unsigned16, 2)
    case (.unsigned, ...32): widths = (.unsigned32, 4)
    case (.signed, ...8): widths = (.signed8, 1)
    case (.signed, ...16): widths = (.signed16, 2)
    case (.signed, ...32): widths = (.signed32, 4)
    case (.float, ...32): widths = (.float, 4)
    default: widths = (.float, 8)
    }
    (type, size) = widths
    isDouble = widths.1 == 8
  }

  /// The bits of integers in a wider type; negative if they are signed. Nil if the type itself says it.
  var declaredBits: Int? {
    guard kind != .float, !isSpread, bits > 8, ![16, 32].contains(bits) else { return nil }
    return kind == .signed ? -bits : bits
  }

  /// Whether stored rows are already the result.
  var isIdentity: Bool {
    storedBits == 8 * size && (kind == .float) == (type == .float)
      && (bits == storedBits || bits > 8 && !isSpread)
  }

  /// Writes the first `count` samples of a row to `out`, `step` bytes from each to the next.
  func unpack(
    _ row: UnsafeRawBufferPointer, count: Int, to out: UnsafeMutableRawPointer, step: Int
  ) {
    func put<Number>(_ number: (Int) -> Number) {
      for index in 0..<count {
        out.storeBytes(of: number(index), toByteOffset: index * step, as: Number.self)
      }
    }
    func whole<Number: BitwiseCopyable>(_ index: Int, _: Number.Type) -> Number {
      row.loadUnaligned(fromByteOffset: index * MemoryLayout<Number>.size, as: Number.self)
    }
    if isSpread, bits > 8, !(kind == .unsigned && bits == 16) {
      let greatest = kind == .float ? 1 : Double(bits < 64 ? (1 << UInt64(bits)) - 1 : UInt64.max)
      return put { UInt16(Double.minimum(.maximum(number(row, $0) / greatest, 0), 1) * 65535 + 0.5) }
    }
    switch (kind, bits) {
    case (.unsigned, 8) where storedBits == 8: put { row[$0] }
    case (.unsigned, ...8):
      let white = (1 << bits) - 1
      put { UInt8((min(Int(integer(row, $0)), white) * 255 + white / 2) / white) }
    case (.unsigned, ...16): put { UInt16(truncatingIfNeeded: integer(row, $0)) }
    case (.unsigned, ...32): put { UInt32(truncatingIfNeeded: integer(row, $0)) }
    case (.unsigned, _): put { Double(whole($0, UInt64.self)) }
    case (.signed, ...8): put { Int8(signed(row, $0)) }
    case (.signed, ...16): put { Int16(signed(row, $0)) }
    case (.signed, ...32): put { Int32(signed(row, $0)) }
    case (.signed, _): put { Double(whole($0, Int64.self)) }
    case (.float, 64): put { whole($0, Double.self) }
    case (.float, 32): put { whole($0, Float.self) }
    case (.float, _): put { Float(number(row, $0)) }
    }
  }

  /// Sample `index` of a row of unsigned integers of at most 32 bits, which are packed from the highest bit of a byte
  /// on unless they are whole bytes.
  func integer(_ row: UnsafeRawBufferPointer, _ index: Int) -> UInt64 {
    switch storedBits {
    case 8: return UInt64(row[index])
    case 16: return UInt64(row.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
    case 24:
      let at = 3 * index
      let (first, last) = (UInt64(row[at]), UInt64(row[at + 2]))
      // libtiff gives them in the machine's order, too.
      #if _endian(little)
        return last << 16 | UInt64(row[at + 1]) << 8 | first
      #else
        return first << 16 | UInt64(row[at + 1]) << 8 | last
      #endif
    case 32: return UInt64(row.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
    case 64: return row.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
    default:
      let (first, last) = (index * storedBits, (index + 1) * storedBits - 1)
      var all: UInt64 = 0
      for byte in first / 8...last / 8 { all = all << 8 | UInt64(row[byte]) }
      return (all >> UInt64(7 - last % 8)) & ((1 << UInt64(storedBits)) - 1)
    }
  }

  private func signed(_ row: UnsafeRawBufferPointer, _ index: Int) -> Int64 {
    let shift = Int64(64 - storedBits)
    return (Int64(bitPattern: integer(row, index)) << shift) >> shift
  }

  /// Sample `index` of a row of unsigned integers or floats.
  private func number(_ row: UnsafeRawBufferPointer, _ index: Int) -> Double {
    guard kind == .float else { return Double(integer(row, index)) }
    switch bits {
    case 16:
      return Self.float(integer(row, index), exponentBits: 5, mantissaBits: 10)
    case 24: return Self.float(integer(row, index), exponentBits: 7, mantissaBits: 16)
    case 32: return Double(row.loadUnaligned(fromByteOffset: 4 * index, as: Float.self))
    default: return row.loadUnaligned(fromByteOffset: 8 * index, as: Double.self)
    }
  }

  /// A float of a sign, an exponent and a mantissa, as IEEE 754 has them.
  private static func float(_ pattern: UInt64, exponentBits: Int, mantissaBits: Int) -> Double {
    let mantissa = Double(pattern & ((1 << UInt64(mantissaBits)) - 1))
    let exponent = Int(pattern >> UInt64(mantissaBits)) & ((1 << exponentBits) - 1)
    let isNegative = (pattern >> UInt64(mantissaBits + exponentBits)) & 1 != 0
    let bias = (1 << (exponentBits - 1)) - 1
    let one = Double(UInt64(1) << UInt64(mantissaBits))
    let magnitude: Double =
      switch exponent {
      case (1 << exponentBits) - 1: mantissa == 0 ? .infinity : .nan
      case 0: Double(sign: .plus, exponent: 1 - bias, significand: 1) * mantissa / one
      default: Double(sign: .plus, exponent: exponent - bias, significand: 1 + mantissa / one)
      }
    return isNegative ? -magnitude : magnitude
  }
}
