import ZigguratCJXL

/// JPEG XL (ISO/IEC 18181) by libjxl, on the caller's thread alone: whoever has several pictures to do has a thread for
/// each, and a sandboxed process's filter lets no other begin.
package enum JPEGXL {
  /// The effort of its encoder.
  package enum Effort: Int64 {
    /// For who waits: a third of the time of `thorough`, for a tenth more bytes.
    case quick = 3
    case thorough = 5
  }

  /// Returns the distance from the source that a picture of a JPEG-like quality may have, in just noticeable
  /// differences. As `JxlEncoderDistanceFromQuality` of libjxl 0.8 has it (lib/jxl/encode.cc), which 0.7 lacks; 100
  /// is lossless.
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
