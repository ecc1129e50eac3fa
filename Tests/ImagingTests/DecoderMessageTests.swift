import Testing
import ZigguratImaging
import ZigguratSandbox
import ZigguratTestSupport

@testable import PyramidBuilding

/// The messages for users if a decoder refuses a file.
struct DecoderMessageTests {
  private static let advice = "if another program shows it, save it from there as PNG or TIFF"

  /// Messages that libvips and its libraries gave.
  @Test(
    "a known message becomes a description of the file and an action",
    arguments: [
      ("tiff2vips: samples out of range", "tiffload", "the TIFF file has a number of bands"),
      (
        "tiff2vips: samples_per_pixel not a whole number of bytes", "tiffload",
        "the TIFF file has samples that are not whole bytes: convert them"
      ),
      (
        "tiff2vips: tiled separate planes not supported", "tiffload",
        "the TIFF file has tiles of separate planes"
      ),
      ("tiff2vips: tile size out of range", "tiffload", "the TIFF file has tiles that are too large"),
      (
        "source input: Compression scheme 34712 tile decoding is not implemented", "tiffload",
        "the TIFF file has a compression that is not read"
      ),
      ("VipsJpeg: Premature end of JPEG file", "jpegload", "the JPEG file is cut off"),
      (
        "VipsJpeg: Corrupt JPEG data: premature end of data segment", "jpegload",
        "the JPEG file has image data that are damaged"
      ),
      ("a.tif: bad seek to 1348", "heifload", "the HEIF file is cut off"),
      ("gifload: Unexpected end of GIF source data", "read", "the GIF file is cut off"),
      ("fits: tried to move past end of file", "read", "the FITS file is cut off"),
      ("webp: unable to parse image", "webpload", "the WebP file is damaged"),
      ("glib: Document is encrypted", "pdfload", "the PDF file is encrypted: remove its password"),
      (
        "magick2vips: libMagick error: ImproperImageHeader `a.tif' @ error/bmp.c/ReadBMPImage/637",
        "magickload",
        "the TIFF file is damaged"
      ),
    ])
  func known(message: String, operation: String, start: String) {
    let reason = DecoderMessage.explained(message, operation: operation, path: "a.tif")
    #expect(reason.hasPrefix(start))
    // The decoder's message stays for experts, without the names of functions.
    #expect(reason.hasSuffix(")") && !reason.contains("tiff2vips") && !reason.contains("a.tif: "))
  }

  @Test("positions in ImageMagick's code and messages of our own readers are not repeated")
  func short() {
    #expect(
      DecoderMessage.explained(
        "magick2vips: libMagick error: UnexpectedEndOfFile `b.dds': Invalid argument @ warning/dds.c/SkipDXTMipmaps/2389",
        operation: "magickload", path: "b.dds"
      ).hasSuffix("interrupted (UnexpectedEndOfFile)"))
    #expect(
      DecoderMessage.explained("magick2vips: libMagick error:", operation: "magickload", path: "b.dpx")
        == "the DPX file cannot be decoded; its decoder gives no reason")
    let own = "the TIFF file is damaged: strip 0 of 1"
    #expect(DecoderMessage.explained(own, operation: "tiffload", path: "a.tif") == own)
    #expect(
      DecoderMessage.explained("heif: Unexpected end of file", operation: "heifload", path: "a.avif")
        .hasPrefix("the AVIF file is cut off"))
  }

  @Test("a crashed decoder is reported with the file's format and an action")
  func crash() {
    let error = BuildError("in/a.jp2", TerminationReason.signal(6))
    #expect(
      error.reason
        == "the JPEG 2000 file cannot be decoded: if another program shows it, save it from there as PNG or "
        + "TIFF (the decoder ended by signal 6)")
    // Somebody ended it: the file may be whole.
    #expect(BuildError("in/a.jp2", TerminationReason.signal(9)).reason == "the decoder ended by signal 9")
    #expect(BuildError("in/a.jp2", TerminationReason.time(5)).reason == "it took longer than 5 s")
  }

  @Test("an unknown message has the file's format and the action in front")
  func unknown() {
    #expect(
      DecoderMessage.explained("tiff2vips: odd thing", operation: "tiffload", path: "x")
        == "the TIFF file cannot be decoded: \(Self.advice) (odd thing)")
    #expect(
      DecoderMessage.explained("odd thing: here", path: "in/x.PSD")
        == "the PSD file cannot be decoded: \(Self.advice) (odd thing: here)")
    #expect(
      DecoderMessage.explained("odd", path: "x") == "the file cannot be decoded: \(Self.advice) (odd)")
    #expect(
      DecoderMessage.explained(nil, operation: "pngload", path: "x")
        == "the PNG file cannot be decoded; its decoder gives no reason")
  }

  @Test(
    "a build reports a damaged file with these messages",
    arguments: [("webp", 60), ("gif", 60), ("jp2", 80), ("jpg", 20_000)])
  func build(ending: String, length: Int) throws {
    let folder = try TemporaryFolder()
    try Tool.check(["vips", "gaussnoise", folder("noise.v"), "300", "200"])
    try Tool.check(["vips", "cast", folder("noise.v"), folder("whole.\(ending)"), "uchar"])
    try folder.write("cut.\(ending)", bytes(ofFile: folder("whole.\(ending)")).prefix(length))
    var options = BuildOptions()
    options.failOn = .truncated
    let error = #expect(throws: BuildError.self) {
      _ = try PyramidBuilder(options: options, threads: 1).build(
        folder("cut.\(ending)"), to: folder("a.szi"), name: "a")
    }
    let reason = try #require(error).reason
    let name = try #require(ImageFileName.format(of: "x.\(ending)")).name
    #expect(
      reason.hasPrefix("the \(name) file is cut off") || reason.hasPrefix("the \(name) file is damaged"),
      "\(reason)")
  }
}
