import Foundation
import Testing
import ZigguratTestSupport

@testable import TileStorage
@testable import ZigguratFiles

struct OriginalFileTests {
  private let folder = try! TemporaryFolder()

  @Test("an original on another mount is copied after publication, and replaces nothing")
  func otherMount() throws {
    let other = "/dev/shm/ziggurat-\(UUID().uuidString)"
    defer { unlink(other) }
    let bytes = Array("II*\0an original".utf8)
    guard FileManager.default.createFile(atPath: other, contents: Data(bytes)),
      FileIdentity(path: other)?.device != FileIdentity(path: folder.path)?.device
    else { return }
    let file = try MappedFile(path: other)
    let digest = try #require(withExtendedLifetime(file) { ContentDigest.text(of: file.descriptor) })
    let original = try NewOriginal(other, digest: digest, sentAs: "a.tif", ofArchive: folder("a.szi"))
    try original.keep(mayCopy: false)
    #expect(folder.files(below: "").isEmpty)
    try folder.write("a.tif", [1, 2, 3])
    for _ in 0..<2 {
      try original.keep(mayCopy: true)
      #expect(folder.files(below: "").sorted() == ["a.\(digest).tif", "a.tif"])
      #expect(FileManager.default.contents(atPath: folder("a.\(digest).tif")) == Data(bytes))
      #expect(FileManager.default.contents(atPath: folder("a.tif")) == Data([1, 2, 3]))
    }
  }
}
