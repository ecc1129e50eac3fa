import ZigguratCJXL
import ZigguratFiles

extension JPEGXL {
  /// The first frame of a file, as 8-bit gray or RGB with alpha or without.
  package struct FirstFrame {
    package let image: Image
    /// Whether all of the frame is there.
    package let isWhole: Bool
  }

  /// Decodes the available part of the first frame; nil if there is none. Missing parts are coarse or black.
  package static func firstFrame(ofFileAt path: String) -> FirstFrame? {
    guard let bytes = ReadableFile(path: path)?.contents() else { return nil }
    return bytes.withUnsafeBytes { bytes in
      try? withDecoder(
        of: bytes, JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FRAME, JXL_DEC_FULL_IMAGE
      ) { firstFrame($0) }
    }
  }

  private static func firstFrame(_ decoder: OpaquePointer) -> FirstFrame? {
    var info = JxlBasicInfo()
    var profile: [UInt8]?
    var pixels: UnsafeMutableBufferPointer<UInt8>?
    defer { pixels?.deallocate() }
    while true {
      switch JxlDecoderProcessInput(decoder) {
      case JXL_DEC_BASIC_INFO:
        guard JxlDecoderGetBasicInfo(decoder, &info) == JXL_DEC_SUCCESS else { return nil }
      case JXL_DEC_COLOR_ENCODING: profile = colours(decoder, info)
      case JXL_DEC_FRAME: break
      case JXL_DEC_NEED_IMAGE_OUT_BUFFER where pixels == nil:
        var format = pixelFormat(bands(info))
        var size = 0
        guard JxlDecoderImageOutBufferSize(decoder, &format, &size) == JXL_DEC_SUCCESS else { return nil }
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: size)
        memory.initialize(repeating: 0)
        pixels = memory
        JxlDecoderSetImageOutBuffer(decoder, &format, memory.baseAddress, size)
      case JXL_DEC_NEED_MORE_INPUT:
        guard let pixels, JxlDecoderFlushImage(decoder) == JXL_DEC_SUCCESS,
          pixels.contains(where: { $0 != 0 })
        else { return nil }
        return FirstFrame(image: image(pixels, info, profile), isWhole: false)
      case JXL_DEC_FULL_IMAGE:
        guard let pixels else { return nil }
        let image = image(pixels, info, profile)
        return FirstFrame(image: image, isWhole: true)
      default: return nil
      }
    }
  }

  /// Whether a file of several frames ends before the last of them does; no pixel is decoded.
  package static func isCutOff(fileAt path: String) -> Bool {
    guard let bytes = ReadableFile(path: path)?.contents() else { return false }
    let isCutOff = bytes.withUnsafeBytes { bytes in
      try? withDecoder(of: bytes, JXL_DEC_FRAME) { decoder in
        var status = JXL_DEC_FRAME
        while status == JXL_DEC_FRAME { status = JxlDecoderProcessInput(decoder) }
        return status == JXL_DEC_NEED_MORE_INPUT
      }
    }
    return isCutOff ?? false
  }

  private static func image(
    _ pixels: UnsafeMutableBufferPointer<UInt8>, _ info: JxlBasicInfo, _ profile: [UInt8]?
  ) -> Image {
    let (width, height) = (Int(info.xsize), Int(info.ysize))
    let isTurned = info.orientation.rawValue > 4
    let image = Image(
      copying: Array(pixels), width: isTurned ? height : width, height: isTurned ? width : height,
      bands: bands(info), subject: "file")
    if let profile { image.setProfile(profile) }
    image.setString("vips-loader", "jxlload")
    return image
  }

  private static func bands(_ info: JxlBasicInfo) -> PixelBands {
    PixelBands(isGray: info.num_color_channels == 1, hasAlpha: info.alpha_bits > 0)
  }
}
