import Glibc
import ZigguratCJXL

extension JPEGXL {
  /// The first frame of a file, as 8-bit gray or RGB with alpha or without.
  package struct FirstFrame {
    package let image: Image
    /// Whether all of the frame is there.
    package let isWhole: Bool
  }

  /// Decodes the first frame, or what there is of it; nil if that is nothing. What is missing is coarse or black.
  package static func firstFrame(ofFileAt path: String) -> FirstFrame? {
    guard let bytes = contents(path), let decoder = JxlDecoderCreate(nil) else { return nil }
    defer { JxlDecoderDestroy(decoder) }
    let events = [JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FRAME, JXL_DEC_FULL_IMAGE]
    JxlDecoderSubscribeEvents(decoder, Int32(events.reduce(0) { $0 | $1.rawValue }))
    return bytes.withUnsafeBufferPointer { bytes in
      JxlDecoderSetInput(decoder, bytes.baseAddress, bytes.count)
      return firstFrame(decoder)
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
    guard let bytes = contents(path), let decoder = JxlDecoderCreate(nil) else { return false }
    defer { JxlDecoderDestroy(decoder) }
    JxlDecoderSubscribeEvents(decoder, Int32(JXL_DEC_FRAME.rawValue))
    return bytes.withUnsafeBufferPointer { bytes in
      JxlDecoderSetInput(decoder, bytes.baseAddress, bytes.count)
      var status = JXL_DEC_FRAME
      while status == JXL_DEC_FRAME { status = JxlDecoderProcessInput(decoder) }
      return status == JXL_DEC_NEED_MORE_INPUT
    }
  }

  private static func contents(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    return [UInt8](unsafeUninitializedCapacity: status.st_size) { buffer, count in
      count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
    }
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
