import Testing
import TileGeometry
import TileStorage
import ZigguratImaging
import ZigguratTestSupport
import ZigguratTileProtocols

@testable import ZigguratTileRendering

struct CancellationTests {
  private static let asked: Cancellation = {
    let cancellation = Cancellation()
    cancellation.ask()
    return cancellation
  }()

  private static func noise() -> PixelBuffer {
    let buffer = PixelBuffer(PixelSize(width: 1500, height: 1000)!, .interleaved(.rgb))
    var random = SplitMix(7)
    for at in buffer.memory.indices { buffer.memory[at] = UInt8(random.below(256)) }
    return buffer
  }

  @Test(
    "a running encoder ends when the picture is cancelled",
    arguments: PictureFormat.allCases)
  func encoders(_ format: PictureFormat) throws {
    let buffer = Self.noise()
    func encode(_ cancellation: Cancellation) throws(ImagingError) -> [UInt8] {
      try buffer.withImage(until: cancellation) { (image) throws(ImagingError) in
        // Something is computed, as it is for every picture that is scaled or turned.
        let image = try image.resized(width: 1200, height: 800)
        return switch format {
        case .jpg: try image.jpegBytes(quality: 80)
        case .png: try image.pngBytes()
        case .webp: try image.webpBytes(quality: 80, isQuick: true)
        case .tif: try image.tiffBytes()
        case .gif: try image.gifBytes()
        case .avif: try image.avifBytes(quality: 80, isQuick: true)
        case .jxl: try image.jxlBytes(quality: 80, isQuick: true)
        }
      }
    }
    #expect(throws: ImagingError.self) { try encode(Self.asked) }
    // The next one is none the worse for it.
    #expect(try encode(Cancellation()).count > 1000)
  }

  @Test("a cancelled render decodes no more tiles")
  func tiles() throws {
    let archive = try TileRendererTests.archive(TemporaryFolder(), format: .jpeg)
    let picture = Picture(
      region: PixelRect(x: 0, y: 0, width: 701, height: 463), size: PixelSize(width: 701, height: 463)!)
    let renderer = TileRenderer()
    let error = #expect(throws: RenderError.self) {
      try renderer.render(.picture(picture), of: archive, until: Self.asked)
    }
    #expect(error == .cancelled)
    #expect(renderer.cachedBytes == 0)
  }
}
