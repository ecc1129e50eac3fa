import ZigguratCVips

/// A libvips image: immutable, evaluated on demand, shared between threads as libvips allows.
package final class Image: @unchecked Sendable {
  // Sendable: libvips images are immutable once made and reference-counted atomically; only regions
  // are bound to a thread, and those are not shared.
  let pointer: UnsafeMutablePointer<VipsImage>
  /// The name in errors: the file that the pixels come from.
  package let subject: String

  /// Takes over the caller's reference.
  init(owning pointer: UnsafeMutablePointer<VipsImage>, subject: String) {
    self.pointer = pointer
    self.subject = subject
  }

  deinit { g_object_unref(pointer) }

  package var width: Int { Int(vips_image_get_width(pointer)) }
  package var height: Int { Int(vips_image_get_height(pointer)) }
  package var bands: Int { Int(vips_image_get_bands(pointer)) }
  /// The bands of an image of 8-bit gray or sRGB, which has no others.
  package var pixelBands: PixelBands {
    guard let bands = PixelBands(rawValue: bands) else {
      preconditionFailure("a pixel has one to four bands")
    }
    return bands
  }
  package var hasAlpha: Bool { vips_image_hasalpha(pointer) != 0 }
  /// Whether a band is one unsigned byte.
  package var isBytes: Bool { vips_image_get_format(pointer) == VIPS_FORMAT_UCHAR }
  /// Bytes of a row of pixels.
  package var rowSize: Int { width * bands * Int(vips_format_sizeof(vips_image_get_format(pointer))) }
  /// The EXIF orientation, 1…8; 1 if there is none.
  package var orientation: Int { Int(vips_image_get_orientation(pointer)) }
  /// The short name of the colour space: `srgb`, `cmyk`, `b-w`, `rgb16`.
  package var interpretation: String {
    vips_enum_nick(vips_interpretation_get_type(), Int32(vips_image_get_interpretation(pointer).rawValue))
      .map { String(cString: $0) } ?? "unknown"
  }

  /// The resolution that the file states, across and down; libvips' 1 if it states none.
  package var pixelsPerMillimetre: (x: Double, y: Double) {
    (vips_image_get_xres(pointer), vips_image_get_yres(pointer))
  }

  package func hasField(_ name: String) -> Bool { vips_image_get_typeof(pointer, name) != 0 }

  /// A header field as text, or nil.
  package func string(_ name: String) -> String? {
    var text: UnsafePointer<CChar>?
    guard hasField(name), vips_image_get_string(pointer, name, &text) == 0 else { return nil }
    return text.map { String(cString: $0) }
  }

  /// A header field as a number, or nil.
  package func int(_ name: String) -> Int? {
    var number: Int32 = 0
    guard hasField(name), vips_image_get_int(pointer, name, &number) == 0 else { return nil }
    return Int(number)
  }
}
