import Testing
import TileStorage

@Suite struct ImageSignatureTests {
  @Test("a kind is told by the first bytes alone")
  func signatures() {
    #expect(ImageSignature([0xff, 0xd8, 0xff, 0xe0]) == .jpeg)
    #expect(ImageSignature(Array("GIF89a".utf8)) == .gif)
    #expect(ImageSignature(Array("RIFF....WEBPVP8 ".utf8)) == .webp)
    #expect(ImageSignature(Array("\u{0}\u{0}\u{0} ftypheic\u{0}\u{0}\u{0}\u{0}mif1".utf8)) == .heif)
    #expect(ImageSignature(Array("\u{0}\u{0}\u{0} ftypmif1\u{0}\u{0}\u{0}\u{0}avif".utf8)) == .avif)
    for other in [
      "", "GIF", "<svg xmlns=", "%PDF-1.7", "\u{0}\u{0}\u{0} ftypisom\u{0}\u{0}\u{0}\u{0}mp42", "BM6",
    ] {
      #expect(ImageSignature(Array(other.utf8)) == nil)
    }
  }
}
