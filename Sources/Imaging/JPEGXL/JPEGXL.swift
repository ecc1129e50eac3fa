import ZigguratCJXL

/// JPEG XL (ISO/IEC 18181) by libjxl, on the caller's thread alone. Callers with several pictures have one thread for
/// each, and the seccomp filter of sandboxed processes forbids further threads.
package enum JPEGXL {
  /// The effort of the encoder.
  package enum Effort: Int64 {
    /// For clients that wait: a third of the time of `thorough`, a tenth more bytes.
    case quick = 3
    case thorough = 5
  }

  /// Returns the distance from the source for a JPEG-like quality, in just noticeable differences; 100 is lossless. It
  /// is the formula of `JxlEncoderDistanceFromQuality` in libjxl 0.8 (lib/jxl/encode.cc), which 0.7 lacks.
  static func distance(quality: Int) -> Float {
    let quality = Float(quality)
    if quality >= 100 { return 0 }
    if quality >= 30 { return 0.1 + (100 - quality) * 0.09 }
    return 53.0 / 3000 * quality * quality - 23.0 / 20 * quality + 25
  }

  static func pixelFormat(_ bands: PixelBands) -> JxlPixelFormat {
    JxlPixelFormat(
      num_channels: UInt32(bands.count), data_type: JXL_TYPE_UINT8, endianness: JXL_NATIVE_ENDIAN, align: 0)
  }

  static func error(_ action: String, _ reason: String) -> ImagingError {
    ImagingError("libjxl \(action)", "tile", message: reason)
  }
}
