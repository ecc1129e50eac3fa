import Testing
import TileStorage

@Suite struct ImageFormatTests {
  @Test("a format is recognized by the first bytes alone")
  func signatures() {
    #expect(ImageFormat(start: [0xff, 0xd8, 0xff, 0xe0]) == .jpeg)
    #expect(ImageFormat(start: Array("GIF89a".utf8)) == .gif)
    #expect(ImageFormat(start: Array("RIFF....WEBPVP8 ".utf8)) == .webp)
    #expect(ImageFormat(start: Array("\u{0}\u{0}\u{0} ftypheic\u{0}\u{0}\u{0}\u{0}mif1".utf8)) == .heif)
    #expect(ImageFormat(start: Array("\u{0}\u{0}\u{0} ftypmif1\u{0}\u{0}\u{0}\u{0}avif".utf8)) == .avif)
    for other in [
      "", "GIF", "<svg xmlns=", "%PDF-1.7", "\u{0}\u{0}\u{0} ftypisom\u{0}\u{0}\u{0}\u{0}mp42", "BM6",
    ] {
      #expect(ImageFormat(start: Array(other.utf8)) == nil)
    }
  }
}
