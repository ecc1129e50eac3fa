/// Decoder messages for users: a statement about the file, and the possible remedy.
package enum DecoderMessage {
  private struct Known {
    /// Parts of messages, in lower case; one of them is enough.
    let marks: [String]
    /// A predicate about the file.
    let predicate: String

    init(_ predicate: String, _ marks: String...) {
      self.predicate = predicate
      self.marks = marks
    }
  }

  /// In this order: a message may have the marks of several.
  private static let known = [
    Known(
      "is encrypted: remove its password first, for example with qpdf --decrypt", "encrypted", "password"),
    Known(
      "has samples that are not whole bytes: convert them to 8 or 16 bits, for example with gdal_translate -ot UInt16",
      "not a whole number of bytes"),
    Known(
      "has samples of several sizes or kinds (BitsPerSample, SampleFormat): write them alike, for example with gdal_translate -ot Byte",
      "values per sample", "per-sample"),
    Known(
      "has a number of bands that is not read: keep the bands that are wanted, for example with gdal_translate -b",
      "samples out of range", "unsupported number of bands"),
    Known(
      "has tiles of separate planes, which are not read: join its planes, for example with tiffcp -p contig",
      "tiled separate planes"),
    Known(
      "has tiles that are too large: write it with smaller ones, for example with tiffcp -t -w 512 -l 512",
      "tile size out of range"),
    Known(
      "has a compression that is not read: write it with another one, for example with gdal_translate -co COMPRESS=LZW",
      "compression scheme", "compression is not configured", "compression support is not configured"),
    Known(
      "holds JPEG data of a kind that is not read, such as lossless ones: \(anotherProgram)",
      "unsupported jpeg process", "unsupported jpeg data precision"),
    Known(cutOff, "premature end of jpeg"),
    // A marker amid the data; of files that end there libjpeg says the former first.
    Known("has image data that are damaged: \(anotherProgram)", "premature end of data segment"),
    Known(
      cutOff,
      "bad seek to", "past end of file", "premature end", "unexpected end of", "memory area too small",
      "unexpected end-of-file", "not enough data", "end of file", "truncated",
      "inconsistent with stream length", "stream too short", "unexpectedendoffile", "insufficientimagedata",
      "insufficient image data", "unabletoreadimagedata", "unable to read image data", "no 'meta' box",
      "lengthandfilesizedonotmatch"),
    Known(
      "is larger than what its decoder takes, or its header is damaged", "exceedslimit", "exceeds the limit"),
    Known(
      "has colours of a kind that is not read: convert them, for example with 'convert FILE -colorspace sRGB FILE.png'",
      "unsupported colorspace"),
    Known(
      "is damaged, or of another format than it begins like: \(anotherProgram)",
      "document is damaged", "unable to parse image", "expected a soc marker",
      "error reading radiance header",
      "jxldecoderprocessinput", "improperimageheader", "no frames in gif", "corruptimage", "xml parse error",
      "unable to open", "unabletodecompressimage", "unable to decompress image",
      "bad header", "of custom tag", "supported brands", "channel list in header"),
  ]

  private static let anotherProgram = "if another program shows it, save it from there as PNG or TIFF"

  private static let cutOff =
    "is cut off: it ends before its image does, as a copy or download that was interrupted"

  /// Whether a clause that `explained` returned says that the file ends early.
  package static func isAboutEnd(_ clause: String) -> Bool { clause.contains(cutOff) }

  /// The formats by the names of libvips' loaders, without `load`, and by the names of functions in messages.
  private static let formats = [
    "jpeg": "JPEG", "VipsJpeg": "JPEG", "png": "PNG", "vipspng": "PNG", "spng": "PNG", "tiff": "TIFF",
    "tiff2vips": "TIFF", "webp": "WebP", "gif": "GIF", "nsgif": "GIF", "heif": "HEIF", "jxl": "JPEG XL",
    "jp2k": "JPEG 2000", "svg": "SVG", "pdf": "PDF", "openslide": "slide", "openslide2vips": "slide",
    "fits": "FITS", "analyze": "Analyze", "analyze2vips": "Analyze", "openexr": "OpenEXR",
    "exr2vips": "OpenEXR", "mat": "Matlab", "mat2vips": "Matlab", "ppm": "PNM",
    "rad": "Radiance", "rad2vips": "Radiance", "vips": "libvips",
  ]

  /// Returns a clause about the file. It explains a known message and appends it. Otherwise it says that the file
  /// cannot be decoded, with the decoder's reason.
  ///
  /// - Parameters:
  ///   - message: the decoder's message; nil if there is none.
  ///   - operation: libvips' operation (`tiffload`); empty for another decoder.
  ///   - path: the path of the file. Its name gives the format if nothing else does.
  package static func explained(
    _ message: String?, operation: String = "", format: String? = nil, path: String
  ) -> String {
    // libvips gathers the messages of all threads of a process, a line each.
    let message = message.flatMap { $0.split(whereSeparator: \.isNewline).first.map(String.init) }
    let parts = message?.split(separator: ":", maxSplits: 1) ?? []
    let source = parts.count == 2 ? String(parts[0]) : ""
    let loader = operation.hasSuffix("load") ? String(operation.dropLast(4)) : operation
    let name =
      format ?? formats[loader] ?? formats[source]
      ?? formats[source.hasSuffix("load") ? String(source.dropLast(4)) : ""]
      ?? ImageFileName.format(of: path)?.name
    // One library decodes both.
    let isAVIF = name == "HEIF" && ImageFileName.format(of: path)?.name == "AVIF"
    let file =
      isAVIF ? "the AVIF file" : name.map { $0 == "slide" ? "the slide" : "the \($0) file" } ?? "the file"
    let unexplained = "\(file) cannot be decoded; its decoder gives no reason"
    guard let message else { return unexplained }
    let detail = withoutPrefixes(withoutPlace(message), path)
    guard !detail.isEmpty else { return unexplained }
    // A reader of our own has explained it, from which libvips has it.
    if detail.hasPrefix("\(file) ") { return detail }
    let lowered = message.lowercased()
    let predicate = known.first { $0.marks.contains { lowered.contains($0) } }?.predicate
    let isWhole = predicate == cutOff && name == "HEIF"
    return "\(file) \(predicate ?? "cannot be decoded: \(anotherProgram)")"
      + (isWhole ? "; of such files no part can be decoded" : "") + " (\(detail))"
  }

  /// Returns a message of ImageMagick without the file's name and the place in ImageMagick's own code, as in
  /// "libMagick error: ImproperImageHeader `a.bmp' @ error/bmp.c/ReadBMPImage/637".
  private static func withoutPlace(_ message: String) -> String {
    let mark = "libMagick error:"
    guard let start = message.firstRange(of: mark) else { return message }
    let rest = message[start.upperBound...].drop(while: \.isWhitespace)
    return String(rest.prefix { $0 != "`" && $0 != "@" && $0 != "'" })
  }

  /// Returns a clause about a file whose decoder ended without a result.
  ///
  /// - Parameters:
  ///   - end: the end of the decoder, as a clause: `the decoder ended by signal 6`.
  ///   - path: the path of the file; its name gives the format.
  package static func crashed(_ end: String, path: String) -> String {
    let file = ImageFileName.format(of: path).map { "the \($0.name) file" } ?? "the file"
    return "\(file) cannot be decoded: \(anotherProgram) (\(end))"
  }

  /// Returns the message without the names of functions and the path in front of it, which say nothing to the file's
  /// owner, as in `tiff2vips: samples out of range`.
  private static func withoutPrefixes(_ message: String, _ path: String) -> String {
    var rest = Substring(message)
    while let colon = rest.firstIndex(of: ":") {
      let (prefix, message) = (rest[..<colon], rest[rest.index(after: colon)...].drop(while: \.isWhitespace))
      guard !message.isEmpty, prefix == path || !prefix.contains(where: \.isWhitespace) else { break }
      rest = message
    }
    while rest.last?.isWhitespace == true { rest.removeLast() }
    return String(rest)
  }
}
