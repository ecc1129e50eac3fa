import ZigguratCJXL

extension JPEGXL {
  /// Decodes a picture to its stored samples, gray or RGB, with at most one alpha band.
  ///
  /// - Parameters:
  ///   - maxWidth: the maximum width of the picture, checked before memory is allocated.
  ///   - bands: the required number of samples per pixel.
  package static func samples(
    _ bytes: UnsafeRawBufferPointer, maxWidth: Int, maxHeight: Int, bands: Int
  ) throws(ImagingError) -> CodedSamples {
    try withDecoder(of: bytes, JXL_DEC_BASIC_INFO, JXL_DEC_FULL_IMAGE) { (decoder) throws(ImagingError) in
      // The TIFF says how the picture is turned.
      JxlDecoderSetKeepOrientation(decoder, 1)
      JxlDecoderCloseInput(decoder)
      return try samples(decoder, maxWidth: maxWidth, maxHeight: maxHeight, bands: bands)
    }
  }

  private static func samples(
    _ decoder: OpaquePointer, maxWidth: Int, maxHeight: Int, bands: Int
  ) throws(ImagingError) -> CodedSamples {
    let info = try info(decoder)
    let (width, height) = (Int(info.xsize), Int(info.ysize))
    guard width > 0, height > 0, width <= maxWidth, height <= maxHeight else {
      throw error("decode", "it has \(width) × \(height) pixels instead of \(maxWidth) × \(maxHeight)")
    }
    let found = Int(info.num_color_channels) + Int(info.num_extra_channels)
    guard found == bands, info.num_extra_channels == (info.alpha_bits > 0 ? 1 : 0), info.have_animation == 0
    else {
      throw error("decode", "it has \(found) channels, of which \(bands) are wanted as colours and alpha")
    }
    let (bits, isFloat) = (Int(info.bits_per_sample), info.exponent_bits_per_sample > 0)
    guard isFloat || 1...16 ~= bits else { throw error("decode", "its samples have \(bits) bits") }
    let size = isFloat ? 4 : bits > 8 ? 2 : 1
    var format = JxlPixelFormat(
      num_channels: UInt32(bands),
      data_type: isFloat ? JXL_TYPE_FLOAT : size == 2 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
      endianness: JXL_NATIVE_ENDIAN, align: 0)
    guard JxlDecoderProcessInput(decoder) == JXL_DEC_NEED_IMAGE_OUT_BUFFER else {
      throw error("decode", "it is damaged or cut short")
    }
    var pixels = [UInt8](repeating: 0, count: width * height * bands * size)
    let status = pixels.withUnsafeMutableBytes { memory in
      guard JxlDecoderSetImageOutBuffer(decoder, &format, memory.baseAddress, memory.count) == JXL_DEC_SUCCESS
      else { return JXL_DEC_ERROR }
      return JxlDecoderProcessInput(decoder)
    }
    guard status == JXL_DEC_FULL_IMAGE else { throw error("decode", "it is damaged or cut short") }
    if !isFloat, bits != 8 * size { narrow(&pixels, bits: bits, size: size) }
    return CodedSamples(
      width: width, height: height, bands: bands, bits: isFloat ? 32 : bits, isFloat: isFloat, bytes: pixels)
  }

  /// libjxl spreads samples over whole bytes; undone, so that they have the numbers that were stored.
  private static func narrow(_ pixels: inout [UInt8], bits: Int, size: Int) {
    let (greatest, whole) = ((1 << bits) - 1, size == 1 ? 255 : 65535)
    pixels.withUnsafeMutableBytes { pixels in
      for at in stride(from: 0, to: pixels.count, by: size) {
        if size == 1 {
          pixels[at] = UInt8((Int(pixels[at]) * greatest + whole / 2) / whole)
        } else {
          let value = Int(pixels.load(fromByteOffset: at, as: UInt16.self))
          pixels.storeBytes(
            of: UInt16((value * greatest + whole / 2) / whole), toByteOffset: at, as: UInt16.self)
        }
      }
    }
  }
}
