import ZigguratCJXL

extension JPEGXL {
  /// Decodes a picture of a single full frame; damage is an error. The size in its header is checked before memory for
  /// pixels is allocated.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, width: Int, height: Int
  ) throws(ImagingError) -> Image {
    try withDecoder(
      of: bytes, JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FRAME, JXL_DEC_FULL_IMAGE
    ) { (decoder) throws(ImagingError) in
      expectWholeLayers(decoder)
      var info = JxlBasicInfo()
      var bands = PixelBands.gray
      var profile: [UInt8]?
      var pixels: [UInt8] = []
      while true {
        switch JxlDecoderProcessInput(decoder) {
        case JXL_DEC_BASIC_INFO:
          info = try checkedInfo(decoder, width, height)
          bands = PixelBands(isGray: info.num_color_channels == 1, hasAlpha: info.num_extra_channels == 1)
        case JXL_DEC_COLOR_ENCODING: profile = colours(decoder, info)
        case JXL_DEC_FRAME: try checkFrame(decoder, width, height)
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
          var format = pixelFormat(bands)
          pixels = [UInt8](repeating: 0, count: width * height * bands.count)
          // Written to until the frame is whole: an array's memory stays where it is for one call alone.
          let status = pixels.withUnsafeMutableBytes { memory in
            guard
              JxlDecoderSetImageOutBuffer(decoder, &format, memory.baseAddress, memory.count)
                == JXL_DEC_SUCCESS
            else { return JXL_DEC_ERROR }
            return JxlDecoderProcessInput(decoder)
          }
          guard status == JXL_DEC_FULL_IMAGE else { throw error("decode", "it is damaged or cut short") }
          let image = Image(copying: pixels, width: width, height: height, bands: bands, subject: "tile")
          if let profile { image.setProfile(profile) }
          return image
        default: throw error("decode", "it is damaged or cut short")
        }
      }
    }
  }

  /// The JPEG that a picture was made of by `recompress`, byte for byte; nil where it was not, or is damaged.
  static func jpeg(in bytes: UnsafeRawBufferPointer, width: Int, height: Int) -> [UInt8]? {
    // The maximum size of a JPEG (ITU-T T.81, section B.2.2); no JPEG needs the memory that is allowed here.
    guard width <= 65_535, height <= 65_535 else { return nil }
    let most = width * height * 8 + (1 << 16)
    return try? withDecoder(
      of: bytes, JXL_DEC_BASIC_INFO, JXL_DEC_JPEG_RECONSTRUCTION, JXL_DEC_FRAME, JXL_DEC_FULL_IMAGE
    ) { (decoder) throws(ImagingError) in
      expectWholeLayers(decoder)
      var memory = UnsafeMutableBufferPointer<UInt8>.allocate(
        capacity: min(most, bytes.count * 2 + (1 << 12)))
      defer { memory.deallocate() }
      var isGivenBack = false
      while true {
        switch JxlDecoderProcessInput(decoder) {
        case JXL_DEC_BASIC_INFO: _ = try checkedInfo(decoder, width, height)
        case JXL_DEC_FRAME: try checkFrame(decoder, width, height)
        case JXL_DEC_JPEG_RECONSTRUCTION:
          isGivenBack = true
          JxlDecoderSetJPEGBuffer(decoder, memory.baseAddress, memory.count)
        case JXL_DEC_JPEG_NEED_MORE_OUTPUT where memory.count < most:
          let count = memory.count - JxlDecoderReleaseJPEGBuffer(decoder)
          let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: min(most, memory.count * 2))
          _ = larger.update(fromContentsOf: memory.prefix(count))
          memory.deallocate()
          memory = larger
          JxlDecoderSetJPEGBuffer(decoder, larger.baseAddress! + count, larger.count - count)
        case JXL_DEC_FULL_IMAGE where isGivenBack:
          return Array(memory.prefix(memory.count - JxlDecoderReleaseJPEGBuffer(decoder)))
        default: throw error("decode", "it is made of no JPEG")
        }
      }
    }
  }

  /// Calls `work` with a decoder of these bytes, which may be the beginning of a picture.
  ///
  /// - Parameter events: the events that the decoder reports.
  static func withDecoder<Result>(
    of bytes: UnsafeRawBufferPointer, _ events: JxlDecoderStatus...,
    work: (OpaquePointer) throws(ImagingError) -> Result
  ) throws(ImagingError) -> Result {
    guard let decoder = JxlDecoderCreate(nil) else { throw error("decode", "no memory for a decoder") }
    defer { JxlDecoderDestroy(decoder) }
    JxlDecoderSubscribeEvents(decoder, events.reduce(0) { $0 | Int32($1.rawValue) })
    JxlDecoderSetInput(decoder, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
    return try work(decoder)
  }

  /// Makes a decoder of a whole picture report missing data as damage. Layers are not composited, because a layer may
  /// be larger than the picture.
  private static func expectWholeLayers(_ decoder: OpaquePointer) {
    JxlDecoderSetCoalescing(decoder, 0)
    JxlDecoderCloseInput(decoder)
  }

  private static func checkedInfo(
    _ decoder: OpaquePointer, _ width: Int, _ height: Int
  ) throws(ImagingError) -> JxlBasicInfo {
    let info = try readInfo(decoder)
    guard info.xsize == width, info.ysize == height else {
      throw error("decode", "it has \(info.xsize)×\(info.ysize) pixels, not \(width)×\(height)")
    }
    let hasAlpha = info.alpha_bits > 0
    guard info.have_animation == 0, info.have_preview == 0, info.orientation == JXL_ORIENT_IDENTITY,
      info.num_extra_channels == (hasAlpha ? 1 : 0), info.alpha_premultiplied == 0,
      info.num_color_channels == 1 || info.num_color_channels == 3
    else { throw error("decode", "it is more than gray or RGB, with alpha or without") }
    return info
  }

  /// Returns the header, which is to come next.
  static func info(_ decoder: OpaquePointer) throws(ImagingError) -> JxlBasicInfo {
    guard JxlDecoderProcessInput(decoder) == JXL_DEC_BASIC_INFO else {
      throw error("decode", "it has no header")
    }
    return try readInfo(decoder)
  }

  /// Returns the header, which the decoder has reported.
  static func readInfo(_ decoder: OpaquePointer) throws(ImagingError) -> JxlBasicInfo {
    var info = JxlBasicInfo()
    guard JxlDecoderGetBasicInfo(decoder, &info) == JXL_DEC_SUCCESS else {
      throw error("decode", "it has no header")
    }
    return info
  }

  private static func checkFrame(
    _ decoder: OpaquePointer, _ width: Int, _ height: Int
  ) throws(ImagingError) {
    var header = JxlFrameHeader()
    guard JxlDecoderGetFrameHeader(decoder, &header) == JXL_DEC_SUCCESS, header.is_last != 0,
      header.layer_info.have_crop == 0, header.layer_info.xsize == width, header.layer_info.ysize == height
    else { throw error("decode", "it is more than one frame of its size") }
  }

  /// Converts the pixels to sRGB unless they have a colour space of their own.
  ///
  /// - Returns: the profile of their colour space; nil for sRGB.
  static func colours(_ decoder: OpaquePointer, _ info: JxlBasicInfo) -> [UInt8]? {
    let isGray = info.num_color_channels == 1
    if info.uses_original_profile == 0 {
      var wanted = JxlColorEncoding()
      JxlColorEncodingSetToSRGB(&wanted, isGray ? 1 : 0)
      JxlDecoderSetPreferredColorProfile(decoder, &wanted)
    }
    let target = JXL_COLOR_PROFILE_TARGET_DATA
    var found = JxlColorEncoding()
    if JxlDecoderGetColorAsEncodedProfile(decoder, nil, target, &found) == JXL_DEC_SUCCESS,
      found.transfer_function == JXL_TRANSFER_FUNCTION_SRGB, found.white_point == JXL_WHITE_POINT_D65,
      isGray || found.primaries == JXL_PRIMARIES_SRGB
    {
      return nil
    }
    var count = 0
    guard JxlDecoderGetICCProfileSize(decoder, nil, target, &count) == JXL_DEC_SUCCESS,
      (1...(1 << 24)).contains(count)
    else { return nil }
    var profile = [UInt8](repeating: 0, count: count)
    guard JxlDecoderGetColorAsICCProfile(decoder, nil, target, &profile, count) == JXL_DEC_SUCCESS
    else { return nil }
    return profile
  }
}
