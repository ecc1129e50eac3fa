import ZigguratCJXL
import ZigguratFiles

/// The parts of a JPEG XL file's header that libvips passes over.
package struct JPEGXLHeader: Sendable {
  /// Whether colours are multiplied by alpha.
  package let isPremultiplied: Bool
  /// Channels beside colours and alpha.
  package let extraChannels: Int
  /// Whether the file is an animation; libvips 8.14 returns only its last frame.
  package let isAnimated: Bool

  /// Bytes in which a header is looked for; metadata may come first.
  private static let maxLength = 1 << 20

  /// `nil` if the file has no such header.
  package init?(path: String) {
    guard let bytes = ReadableFile(path: path)?.bytes(atMost: Self.maxLength) else { return nil }
    let found = bytes.withUnsafeBytes { bytes in
      try? JPEGXL.withDecoder(of: bytes, JXL_DEC_BASIC_INFO) { (decoder) throws(ImagingError) in
        try JPEGXL.info(decoder)
      }
    }
    guard let info = found else { return nil }
    isPremultiplied = info.alpha_bits > 0 && info.alpha_premultiplied != 0
    isAnimated = info.have_animation != 0
    extraChannels = max(0, Int(info.num_extra_channels) - (info.alpha_bits > 0 ? 1 : 0))
  }
}
