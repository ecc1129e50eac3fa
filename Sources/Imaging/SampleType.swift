import ZigguratCVips

/// The type of an image's samples.
package enum SampleType: Sendable {
  case byte, signed8, unsigned16, signed16, unsigned32, signed32
  case float, other

  /// The values of an integer; nil of any other.
  package var range: ClosedRange<Double>? {
    switch self {
    case .byte: 0...255
    case .signed8: -128...127
    case .unsigned16: 0...65535
    case .signed16: -32768...32767
    case .unsigned32: 0...4_294_967_295
    case .signed32: -2_147_483_648...2_147_483_647
    case .float, .other: nil
    }
  }

  /// Returns the least and the greatest value of the first `first` of `bands` bands of `count` pixels; `nil` if samples
  /// are no integers.
  func range(
    _ row: UnsafeMutablePointer<UInt8>, count: Int, bands: Int, first: Int
  ) -> (least: Double, greatest: Double)? {
    func look<Sample: FixedWidthInteger>(_: Sample.Type) -> (least: Double, greatest: Double) {
      row.withMemoryRebound(to: Sample.self, capacity: count * bands) { samples in
        var (least, greatest) = (Sample.max, Sample.min)
        for pixel in 0..<count {
          for band in 0..<first {
            let value = samples[pixel * bands + band]
            least = min(least, value)
            greatest = max(greatest, value)
          }
        }
        return (Double(least), Double(greatest))
      }
    }
    return switch self {
    case .byte: look(UInt8.self)
    case .signed8: look(Int8.self)
    case .unsigned16: look(UInt16.self)
    case .signed16: look(Int16.self)
    case .unsigned32: look(UInt32.self)
    case .signed32: look(Int32.self)
    case .float, .other: nil
    }
  }
}

extension Image {
  package var sampleType: SampleType {
    switch vips_image_get_format(pointer) {
    case VIPS_FORMAT_UCHAR: .byte
    case VIPS_FORMAT_CHAR: .signed8
    case VIPS_FORMAT_USHORT: .unsigned16
    case VIPS_FORMAT_SHORT: .signed16
    case VIPS_FORMAT_UINT: .unsigned32
    case VIPS_FORMAT_INT: .signed32
    case VIPS_FORMAT_FLOAT, VIPS_FORMAT_DOUBLE: .float
    default: .other
    }
  }
}

/// Calls `body` with the first `first` of `bands` samples of each of `count` pixels.
@inline(__always)
private func forEachSample<Sample: BitwiseCopyable>(
  of row: UnsafeMutablePointer<UInt8>, count: Int, bands: Int, first: Int, _ body: (Sample) -> Void
) {
  // Samples of a mapped file lie behind a header of any length.
  let samples = UnsafeRawPointer(row)
  for pixel in 0..<count {
    for band in 0..<first {
      let place = (pixel * bands + band) * MemoryLayout<Sample>.stride
      body(samples.loadUnaligned(fromByteOffset: place, as: Sample.self))
    }
  }
}

/// Floating-point samples of 32 or of 64 bits.
enum FloatingPointSamples {
  case single, double

  /// Returns the least and the greatest finite value of the first `first` of `bands` bands of `count` pixels; nil if
  /// none is finite.
  func finiteRange(
    _ row: UnsafeMutablePointer<UInt8>, count: Int, bands: Int, first: Int
  ) -> (least: Double, greatest: Double)? {
    func look<Sample: BinaryFloatingPoint & BitwiseCopyable>(
      _: Sample.Type
    ) -> (least: Double, greatest: Double)? {
      var (least, greatest) = (Sample.infinity, -Sample.infinity)
      forEachSample(of: row, count: count, bands: bands, first: first) { (value: Sample) in
        guard value.isFinite else { return }
        least = min(least, value)
        greatest = max(greatest, value)
      }
      return least <= greatest ? (Double(least), Double(greatest)) : nil
    }
    return switch self {
    case .single: look(Float.self)
    case .double: look(Double.self)
    }
  }
}

/// Samples as 32-bit numbers that have the samples' order.
struct OrderedSamples {
  fileprivate let format: VipsBandFormat

  /// Calls `body` with the numbers of the finite samples of the first `first` of `bands` bands of `count` pixels.
  func each(
    _ row: UnsafeMutablePointer<UInt8>, count: Int, bands: Int, first: Int, _ body: (UInt32) -> Void
  ) {
    func look<Sample: BitwiseCopyable>(_: Sample.Type, _ number: (Sample) -> UInt32?) {
      forEachSample(of: row, count: count, bands: bands, first: first) { (sample: Sample) in
        if let number = number(sample) { body(number) }
      }
    }
    switch format {
    case VIPS_FORMAT_UCHAR: look(UInt8.self) { UInt32($0) }
    case VIPS_FORMAT_CHAR: look(Int8.self) { Self.number(Int32($0)) }
    case VIPS_FORMAT_USHORT: look(UInt16.self) { UInt32($0) }
    case VIPS_FORMAT_SHORT: look(Int16.self) { Self.number(Int32($0)) }
    case VIPS_FORMAT_UINT: look(UInt32.self) { $0 }
    case VIPS_FORMAT_INT: look(Int32.self) { Self.number($0) }
    case VIPS_FORMAT_FLOAT: look(Float.self) { Self.number($0) }
    case VIPS_FORMAT_DOUBLE: look(Double.self) { Self.number(Float($0)) }
    default: break
    }
  }

  /// Returns the sample of a number.
  func value(_ number: UInt32) -> Double {
    switch format {
    case VIPS_FORMAT_CHAR, VIPS_FORMAT_SHORT, VIPS_FORMAT_INT:
      Double(Int32(bitPattern: number ^ 0x8000_0000))
    case VIPS_FORMAT_FLOAT, VIPS_FORMAT_DOUBLE:
      Double(Float(bitPattern: number & 0x8000_0000 == 0 ? ~number : number & 0x7fff_ffff))
    default: Double(number)
    }
  }

  private static func number(_ value: Int32) -> UInt32 { UInt32(bitPattern: value) ^ 0x8000_0000 }

  /// The bits of a negative number have the opposite order.
  private static func number(_ value: Float) -> UInt32? {
    guard value.isFinite else { return nil }
    let bits = value.bitPattern
    return bits & 0x8000_0000 == 0 ? bits | 0x8000_0000 : ~bits
  }
}

extension Image {
  /// `nil` if the samples are no floating-point numbers.
  var floatingPoint: FloatingPointSamples? {
    switch vips_image_get_format(pointer) {
    case VIPS_FORMAT_FLOAT: .single
    case VIPS_FORMAT_DOUBLE: .double
    default: nil
    }
  }

  var orderedSamples: OrderedSamples { OrderedSamples(format: vips_image_get_format(pointer)) }
}
