import Glibc
import ZigguratCVips
package import ZigguratSandbox

/// The preparations of this module that a zygote may make before a sandboxed process starts.
package enum ImagingPreload {
  package static let magick = ProcessLauncher.Preload(rawValue: 1)
}

extension Vips {
  /// Does the initialization that every first picture would wait for, in a process of one thread; reads no picture.
  package static func preload() {
    // Images that have to stand in memory stay there: a sandboxed process has no place for a temporary file.
    setenv("VIPS_DISC_THRESHOLD", "1000g", 1)
    // Orc would compile code while it runs, and a sandboxed process has no memory for code.
    setenv("VIPS_NOVECTOR", "1", 1)
    start()
    keepClasses(g_type_from_name("VipsOperation"))
    PDFDocument.preload()
    tzset()
    keepPasswordsEncoding()
  }

  /// Loads the converter for poppler's passwords, which a sandboxed process may not open. The C library keeps it as
  /// long as one conversion is open.
  private static func keepPasswordsEncoding() {
    let conversion = g_iconv_open("ISO-8859-1", "UTF-8")
    if let text = g_convert("e", 1, "ISO-8859-1", "UTF-8", nil, nil, nil) { g_free(text) }
    withExtendedLifetime(conversion) {}
  }

  /// A class that is referred to is initialised and stays. Those of loaders that hardly any picture needs are left
  /// alone: they start whole libraries.
  private static func keepClasses(_ type: GType) {
    if let name = g_type_name(type).map({ String(cString: $0) }), ImageLoaders.isUncommon(name) { return }
    g_type_class_ref(type)
    var count: guint = 0
    guard let children = g_type_children(type, &count) else { return }
    defer { g_free(children) }
    for number in 0..<Int(count) { keepClasses(children[number]) }
  }

  /// Makes ImageMagick load the decoders of common formats, which it otherwise does on the first picture of a format.
  package static func preloadMagick() {
    start()
    guard !ImageLoaders.allow([.magick]).isEmpty else { return }
    for picture in smallest {
      picture.withUnsafeBytes { bytes in
        _ = try? Image(encoded: bytes, loader: "magickload_buffer", subject: "picture").decodeAll()
      }
    }
  }

  /// One pixel each: BMP, ICO, TGA by way of its footer, PCX, PSD.
  private static let smallest: [[UInt8]] = [
    Array("BM".utf8) + little(58, 4) + little(0, 4) + little(54, 4) + little(40, 4) + little(1, 4)
      + little(1, 4)
      + little(1, 2) + little(24, 2) + little(0, 24) + [0, 0, 0, 0],
    little(0, 2) + little(1, 2) + little(1, 2) + [1, 1, 0, 0] + little(1, 2) + little(32, 2) + little(48, 4)
      + little(22, 4) + little(40, 4) + little(1, 4) + little(2, 4) + little(1, 2) + little(32, 2)
      + little(0, 24) + [0, 0, 0, 255, 0, 0, 0, 0],
    Array("8BPS".utf8) + [0, 1] + little(0, 6) + [0, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 8, 0, 3] + little(0, 12)
      + [0, 0, 0, 0, 0],
  ]

  private static func little(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { $0 < 8 ? UInt8(truncatingIfNeeded: value >> (8 * $0)) : 0 }
  }
}
