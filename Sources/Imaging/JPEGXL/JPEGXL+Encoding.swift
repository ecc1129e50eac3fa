import ZigguratCJXL
import ZigguratCVips

extension JPEGXL {
  /// Encodes pixels as a file without metadata except their ICC profile.
  ///
  /// - Parameters:
  ///   - pixels: rows without gaps.
  ///   - quality: 1…100; 100 is lossless. Alpha is always lossless.
  ///   - profile: the profile of the pixels' colour space; nil is sRGB.
  package static func encode(
    _ pixels: UnsafeRawBufferPointer, width: Int, height: Int, bands: PixelBands, quality: Int,
    effort: Effort,
    profile: [UInt8]? = nil
  ) throws(ImagingError) -> [UInt8] {
    precondition(pixels.count >= width * height * bands.count, "memory for every pixel")
    return try withEncoder { (encoder) throws(ImagingError) in
      var info = JxlBasicInfo()
      JxlEncoderInitBasicInfo(&info)
      info.xsize = UInt32(width)
      info.ysize = UInt32(height)
      info.bits_per_sample = 8
      info.num_color_channels = bands.isGray ? 1 : 3
      if bands.hasAlpha { (info.num_extra_channels, info.alpha_bits) = (1, 8) }
      // Otherwise they would be made XYB, and no decoder without a colour engine finds back to the profile.
      info.uses_original_profile = quality >= 100 || profile != nil ? 1 : 0
      try check(JxlEncoderSetBasicInfo(encoder, &info))
      if let profile {
        try check(JxlEncoderSetICCProfile(encoder, profile, profile.count))
      } else {
        var colours = JxlColorEncoding()
        JxlColorEncodingSetToSRGB(&colours, bands.isGray ? 1 : 0)
        try check(JxlEncoderSetColorEncoding(encoder, &colours))
      }
      let settings = try settings(of: encoder, effort)
      if quality >= 100 {
        try check(JxlEncoderSetFrameLossless(settings, 1))
      } else {
        try check(JxlEncoderSetFrameDistance(settings, distance(quality: quality)))
      }
      var format = pixelFormat(bands)
      try check(JxlEncoderAddImageFrame(settings, &format, pixels.baseAddress, width * height * bands.count))
    }
  }

  /// A JPEG's own coefficients in a fifth less bytes, with all that is needed to write the same file again.
  package static func recompress(jpeg: UnsafeRawBufferPointer) throws(ImagingError) -> [UInt8] {
    try withEncoder { (encoder) throws(ImagingError) in
      try check(JxlEncoderStoreJPEGMetadata(encoder, 1))
      let bytes = jpeg.assumingMemoryBound(to: UInt8.self)
      // More effort brings nothing up to 8, and a hundredth at 9, in eight times the time.
      try check(JxlEncoderAddJPEGFrame(settings(of: encoder, .thorough), bytes.baseAddress, bytes.count))
    }
  }

  private static func settings(
    of encoder: OpaquePointer, _ effort: Effort
  ) throws(ImagingError) -> OpaquePointer {
    guard let settings = JxlEncoderFrameSettingsCreate(encoder, nil) else {
      throw error("encode", "no memory for an encoder")
    }
    try check(
      JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, effort.rawValue))
    return settings
  }

  private static func check(_ status: JxlEncoderStatus) throws(ImagingError) {
    guard status == JXL_ENC_SUCCESS else { throw error("encode", "it refused the picture") }
  }

  /// Returns the encoded file with the single frame that `fill` adds.
  private static func withEncoder(
    _ fill: (OpaquePointer) throws(ImagingError) -> Void
  ) throws(ImagingError) -> [UInt8] {
    guard let encoder = JxlEncoderCreate(nil) else { throw error("encode", "no memory for an encoder") }
    defer { JxlEncoderDestroy(encoder) }
    try fill(encoder)
    JxlEncoderCloseInput(encoder)
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    var count = 0
    while true {
      let status = bytes.withUnsafeMutableBufferPointer { buffer in
        var next = buffer.baseAddress.map { $0 + count }
        var available = buffer.count - count
        defer { count = buffer.count - available }
        return JxlEncoderProcessOutput(encoder, &next, &available)
      }
      if status == JXL_ENC_SUCCESS { break }
      guard status == JXL_ENC_NEED_MORE_OUTPUT else {
        throw error("encode", "error \(JxlEncoderGetError(encoder).rawValue)")
      }
      bytes.append(contentsOf: repeatElement(0, count: bytes.count))
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }
}

extension Image {
  /// Returns the image encoded as JPEG XL without metadata.
  ///
  /// - Parameters:
  ///   - quality: 1…100; 100 is lossless.
  ///   - isQuick: whether encoding takes a third of the time, for a tenth more bytes.
  package func jxlBytes(quality: Int, isQuick: Bool = false) throws(ImagingError) -> [UInt8] {
    let image = try asBytesOfColor()
    var count = 0
    // It looks in between whether the picture is still wanted.
    guard let memory = vips_image_write_to_memory(image.pointer, &count) else {
      throw ImagingError.take("write_to_memory", subject)
    }
    defer { g_free(memory) }
    return try JPEGXL.encode(
      UnsafeRawBufferPointer(start: memory, count: count), width: image.width, height: image.height,
      bands: image.pixelBands, quality: quality, effort: isQuick ? .quick : .thorough)
  }
}
