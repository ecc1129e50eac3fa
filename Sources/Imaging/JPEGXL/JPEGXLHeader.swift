import Glibc
import ZigguratCJXL

/// The parts of a JPEG XL file's header that libvips passes over.
package struct JPEGXLHeader: Sendable {
  /// Whether colours are multiplied by alpha.
  package let isPremultiplied: Bool
  /// Channels beside colours and alpha.
  package let extraChannels: Int
  /// Whether the file has frames that are shown one after the other, of which libvips 8.14 returns the last.
  package let isAnimated: Bool

  /// Bytes in which a header is looked for; metadata may come first.
  private static let longest = 1 << 20

  /// `nil` if the file has no such header.
  package init?(path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0, let decoder = JxlDecoderCreate(nil) else {
      if descriptor >= 0 { close(descriptor) }
      return nil
    }
    defer {
      JxlDecoderDestroy(decoder)
      close(descriptor)
    }
    let bytes = [UInt8](unsafeUninitializedCapacity: Self.longest) { buffer, count in
      count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
    }
    JxlDecoderSubscribeEvents(decoder, Int32(JXL_DEC_BASIC_INFO.rawValue))
    let info = bytes.withUnsafeBufferPointer { bytes -> JxlBasicInfo? in
      JxlDecoderSetInput(decoder, bytes.baseAddress, bytes.count)
      guard JxlDecoderProcessInput(decoder) == JXL_DEC_BASIC_INFO else { return nil }
      var info = JxlBasicInfo()
      return JxlDecoderGetBasicInfo(decoder, &info) == JXL_DEC_SUCCESS ? info : nil
    }
    guard let info else { return nil }
    isPremultiplied = info.alpha_bits > 0 && info.alpha_premultiplied != 0
    isAnimated = info.have_animation != 0
    extraChannels = max(0, Int(info.num_extra_channels) - (info.alpha_bits > 0 ? 1 : 0))
  }
}
