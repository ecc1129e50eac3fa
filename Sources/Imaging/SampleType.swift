import CVips

/// What a sample of an image is.
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

  /// The least and the greatest value of the first `first` of `bands` bands of `count` pixels; nil where one is in the
  /// upper half of the type's range, or the samples are no integers.
  func rangeWithoutTopBit(
    _ row: UnsafeMutablePointer<UInt8>, count: Int, bands: Int, first: Int
  ) -> (least: Double, greatest: Double)? {
    func look<Sample: FixedWidthInteger>(_: Sample.Type) -> (least: Double, greatest: Double)? {
      row.withMemoryRebound(to: Sample.self, capacity: count * bands) { samples in
        var (least, greatest) = (Sample.max, Sample.min)
        for pixel in 0..<count {
          for band in 0..<first {
            let value = samples[pixel * bands + band]
            least = min(least, value)
            greatest = max(greatest, value)
          }
        }
        let isWithin = greatest <= Sample.max / 2 && (!Sample.isSigned || least >= Sample.min / 2)
        return isWithin ? (Double(least), Double(greatest)) : nil
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
