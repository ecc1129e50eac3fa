package import TileStorage
import ZigguratCVips

/// The damage that libvips' decoders notice and go on with: they write it into libvips' log, which is kept
/// by thread, or into its error buffer, which is the process's. A sandboxed process decodes one picture at a time.
package enum DecoderWarnings {
  /// Returns the damage that was noticed since the file was opened by this thread, and forgets it.
  ///
  /// - Parameter loader: libvips' name of it; of other loaders than those of JPEG, GIF, JPEG 2000 and TIFF the warnings
  ///   are about metadata.
  package static func take(ofLoader loader: String?) -> SourceDamage? {
    let logged = VipsLog.takeAll()
    let buffer = vips_error_buffer_copy()
    defer { g_free(buffer) }
    let errors = lines(buffer.map { String(cString: $0) } ?? "")
    switch loader {
    case "jpegload": return jpeg(logged)
    case "gifload":
      guard let first = logged.first else { return nil }
      return first.contains("nexpected end")
        ? SourceDamage(.truncated, "the GIF file is cut off (\(first))")
        : SourceDamage(.error, "the GIF file is damaged (\(first))")
    case "jp2kload":
      return errors.first.map { SourceDamage(.error, "the JPEG 2000 file is damaged (\($0))") }
    case "tiffload": return (errors + logged).lazy.compactMap { tiff(message: $0) }.first
    default: return nil
    }
  }

  /// Returns the damage that a message of libtiff reports about pixels that it decoded nevertheless; `nil` if the
  /// message is about something else.
  ///
  /// The decoders of CCITT fax, PackBits and JPEG return success after such a message; all others return an error
  /// (libtiff 4.5: `tif_fax3.c`, `tif_packbits.c`, `tif_jpeg.c`).
  package static func tiff(message: String, of part: String? = nil) -> SourceDamage? {
    guard tiffMarks.contains(where: message.contains) else { return nil }
    let detail = part.map { "\($0): \(message)" } ?? message
    // Bytes behind the last pixel; see `jpeg_errors.c`.
    return message.contains("extraneous bytes")
      ? SourceDamage(.warning, "the TIFF file has flaws: \(detail)")
      : SourceDamage(.error, "the TIFF file is damaged: \(detail)")
  }

  private static let tiffMarks = [
    "Bad code word at line", "Uncompressed data (not supported) at line", "Line length mismatch at line",
    "Premature EOL at line", "Premature EOF at line", "to avoid buffer overrun", "Terminating PackBitsDecode",
    "Corrupt JPEG data", "Premature end of JPEG", "Inconsistent progression sequence",
  ]

  /// libvips logs how many warnings libjpeg gave, and its error buffer with the first of them.
  private static func jpeg(_ logged: [String]) -> SourceDamage? {
    let prefix = "read gave "
    guard let count = logged.first(where: { $0.hasPrefix(prefix) }) else { return nil }
    let first = logged.filter { !$0.hasPrefix(prefix) }.flatMap(lines).first { $0.contains("JPEG") } ?? count
    if first.contains("Premature end of JPEG file") {
      return SourceDamage(.truncated, "the JPEG file is cut off (\(first))")
    }
    // Bytes behind the last pixel; see `jpeg_errors.c`.
    let isOfPixels = !first.contains("extraneous bytes") || !count.hasPrefix(prefix + "1 ")
    return isOfPixels
      ? SourceDamage(.error, "the JPEG file is damaged (\(first))")
      : SourceDamage(.warning, "the JPEG file has flaws beside its pixels (\(first))")
  }

  /// Without the names of functions in front.
  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { line in
      let parts = line.split(separator: ": ", maxSplits: 1)
      return String(parts.count == 2 && !parts[0].contains(" ") ? parts[1] : line)
    }
  }
}
