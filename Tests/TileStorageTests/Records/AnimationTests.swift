import Foundation
import Testing
import TileGeometry

@testable import TileStorage

@Suite struct AnimationTests {
  private static func record(_ animation: Animation?) -> BuildRecord {
    var record = BuildRecord(
      sourceName: "a.gif", page: nil, sourceBytes: 1, sourceDigest: "", options: "", route: "", steps: [])
    record.animation = animation
    return record
  }

  @Test(arguments: Animation.Format.allCases)
  func `an animation is read back from its record`(format: Animation.Format) {
    let record = Self.record(Animation(frames: 2, format: format))
    #expect(BuildRecord(json: Data(record.json)) == record)
    #expect(["image/gif", "image/webp"].contains(record.animation?.mediaType))
  }

  @Test(arguments: ["html", "svg+xml", "GIF", "gif; charset=utf-8", "gif\r\nSet-Cookie: a=b", "", "../gif"])
  func `a record of another format is ignored`(format: String) throws {
    let json = String(decoding: Self.record(Animation(frames: 2, format: .gif)).json, as: UTF8.self)
    let other = json.replacing(
      "\"gif\"", with: String(decoding: try JSONEncoder().encode(format), as: UTF8.self))
    #expect(other != json)
    #expect(BuildRecord(json: Data(other.utf8)) == nil)
  }

  @Test(arguments: [
    ("GIF89a…", Animation.Format.gif, true), ("GIF87a…", .gif, true), ("RIFF....WEBPVP8X", .webp, true),
    ("<script>", .gif, false), ("RIFF....WEBPVP8X", .gif, false), ("GIF89a…", .webp, false),
    ("", .gif, false),
  ])
  func `only bytes with the signature of the format are the animation`(
    text: String, format: Animation.Format, areThey: Bool
  ) {
    let animation = Animation(frames: 2, format: format)
    let archive = TileArchive(
      inMemory: SmallArchive.pyramid(1, 1, tileSize: 256), entries: [animation.entryName: Array(text.utf8)],
      tile: SmallArchive.tile)
    withExtendedLifetime(archive) {
      #expect(archive.bytes(of: animation).map { Array($0) } == (areThey ? Array(text.utf8) : nil))
    }
  }
}
