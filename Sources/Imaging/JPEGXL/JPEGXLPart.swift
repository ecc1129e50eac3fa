import CJXL
import Glibc

extension JPEGXL {
  /// The part of a cut-off JPEG XL file that can be decoded, as 8-bit gray or RGB with alpha or without; nil if nothing
  /// can, and for animations. What is missing is coarse or black.
  package static func part(ofFileAt path: String) -> Image? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, let decoder = JxlDecoderCreate(nil) else { return nil }
    defer { JxlDecoderDestroy(decoder) }
    let bytes = [UInt8](unsafeUninitializedCapacity: status.st_size) { buffer, count in
      count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
    }
    let events = [JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FRAME, JXL_DEC_FULL_IMAGE]
    JxlDecoderSubscribeEvents(decoder, Int32(events.reduce(0) { $0 | $1.rawValue }))
    return bytes.withUnsafeBufferPointer { bytes in
      JxlDecoderSetInput(decoder, bytes.baseAddress, bytes.count)
      return part(decoder)
    }
  }

  private static func part(_ decoder: OpaquePointer) -> Image? {
    var info = JxlBasicInfo()
    var profile: [UInt8]?
    var pixels: UnsafeMutableBufferPointer<UInt8>?
    defer { pixels?.deallocate() }
    while true {
      switch JxlDecoderProcessInput(decoder) {
      case JXL_DEC_BASIC_INFO:
        guard JxlDecoderGetBasicInfo(decoder, &info) == JXL_DEC_SUCCESS, info.have_animation == 0 else {
          return nil
        }
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
        let (width, height) = (Int(info.xsize), Int(info.ysize))
        let isTurned = info.orientation.rawValue > 4
        let image = Image(
          copying: Array(pixels), width: isTurned ? height : width, height: isTurned ? width : height,
          bands: bands(info), subject: "file")
        if let profile { image.setProfile(profile) }
        return image
      default: return nil
      }
    }
  }

  private static func bands(_ info: JxlBasicInfo) -> PixelBands {
    PixelBands(isGray: info.num_color_channels == 1, hasAlpha: info.alpha_bits > 0)
  }
}
