import Testing
import TileStorage

@testable import ZigguratTileProtocols

struct PictureFormatTests {
  private static func read(
    _ ending: String, _ read: (UnsafeRawBufferPointer) -> PictureFormat?
  ) -> PictureFormat? { Array(ending.utf8).withUnsafeBytes(read) }

  @Test("an extension is read from bytes as from a string", arguments: PictureFormat.allCases)
  func endings(format: PictureFormat) {
    #expect(Self.read(format.fileExtension, PictureFormat.init(ending:)) == format)
    #expect(Self.read(format.fileExtension, PictureFormat.init(tileEnding:)) == format)
    #expect(PictureFormat(fileExtension: format.fileExtension) == format)
  }

  @Test(
    "no format has another extension",
    arguments: [
      "", "j", "jp", "JPG", "jpg ", "jpgg", "jpeg", "tiff", "webpp", "\0jpg", "jpg\0", "bmp", "png,",
    ])
  func others(ending: String) {
    #expect(Self.read(ending, PictureFormat.init(ending:)) == nil)
    #expect(Self.read(ending, PictureFormat.init(tileEnding:)) == (ending == "jpeg" ? .jpg : nil))
  }

  @Test("tiles of every format have its extensions and its media type", arguments: TileFormat.allCases)
  func tiles(format: TileFormat) {
    let picture = PictureFormat(format)
    for ending in format.extensions {
      #expect(Self.read(ending, PictureFormat.init(tileEnding:)) == picture)
      #expect(TileFormat(fileExtension: ending.uppercased()) == format)
    }
    #expect(picture.mediaType == format.mediaType)
    #expect(String(cString: format.mediaTypeCharacters) == format.mediaType)
  }
}
