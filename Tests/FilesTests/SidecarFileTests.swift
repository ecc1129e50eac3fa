import Foundation
import Testing
import ZigguratTestSupport

@testable import ZigguratFiles

@Suite struct SidecarFileTests {
  private let folder = try! TemporaryFolder()
  private var archive: String { folder("photo.szi") }

  @Test func `the sidecar without the archive's extension comes first`() throws {
    #expect(SidecarFile(ofArchive: archive) == nil && SidecarFile.all(ofArchive: archive).isEmpty)
    try folder.write("photo.szi.xmp", [1])
    #expect(SidecarFile(ofArchive: archive)?.path == folder("photo.szi.xmp"))
    try folder.write("photo.xmp", [])
    let all = SidecarFile.all(ofArchive: archive)
    #expect(
      all.map(\.path) == SidecarFile.paths(ofArchive: archive) && SidecarFile(ofArchive: archive) == all[0])
    #expect(try all.map { (file) throws(StorageError) in try file.contents(within: nil) } == [[], [1]])
    // What a reading of the folder did not see is not looked for.
    #expect(SidecarFile(ofArchive: archive) { $0.hasSuffix(".szi.xmp") } == all[1])
    try all[0].remove()
    try all[0].remove()
    #expect(SidecarFile(ofArchive: archive) == all[1])
  }

  @Test func `a folder is no sidecar`() throws {
    try FileManager.default.createDirectory(atPath: folder("photo.xmp"), withIntermediateDirectories: false)
    #expect(SidecarFile(ofArchive: archive) == nil)
  }

  @Test("a sidecar gets the name that is no folder, and is rejected if both are folders")
  func placeBesideFolders() throws {
    #expect(try SidecarFile.place(ofArchive: archive) == folder("photo.xmp"))
    try folder.write("photo.xmp/other.szi", [1])
    #expect(try SidecarFile.place(ofArchive: archive) == folder("photo.szi.xmp"))
    try folder.write("photo.szi.xmp/other.szi", [1])
    #expect(throws: StorageError.self) { try SidecarFile.place(ofArchive: archive) }
  }

  @Test(
    "the first name of one image's sidecar is not the second of another's", arguments: ["szi", "dzi", "zip"])
  func sharedName(ending: String) throws {
    try folder.write("photo.szi.xmp", [1])
    #expect(SidecarFile(ofArchive: archive)?.path == folder("photo.szi.xmp"))
    try folder.write("photo.szi.\(ending)", [1])
    #expect(SidecarFile(ofArchive: archive) == nil && SidecarFile.all(ofArchive: archive).isEmpty)
    #expect(SidecarFile(ofArchive: folder("photo.szi.\(ending)"))?.path == folder("photo.szi.xmp"))
  }

  @Test("sidecars keep the form of their names beside another archive, if that name is free")
  func placesBesideAnother() throws {
    let other = folder("other.szi")
    func places() -> [String]? {
      SidecarFile.places(ofSidecarsOf: archive, beside: other)?.map { "\($0.source) \($0.target)" }
    }
    let names = [("photo.xmp", "other.xmp"), ("photo.szi.xmp", "other.szi.xmp")].map {
      (folder($0.0), folder($0.1))
    }
    #expect(places() == [])
    try folder.write("photo.szi.xmp", [1])
    #expect(places() == ["\(names[1].0) \(names[1].1)"])
    try folder.write("photo.xmp", [2])
    #expect(places() == names.map { "\($0.0) \($0.1)" })
    try folder.write("other.xmp/image.szi", [1])
    #expect(places() == nil)
    unlink(names[1].0)
    #expect(places() == ["\(names[0].0) \(names[1].1)"])
  }

  @Test func `a sidecar is parsed up to a size limit and moved in any size`() throws {
    for count in [0, SidecarFile.maxLength, SidecarFile.maxLength + 1] {
      let bytes = [UInt8](repeating: 32, count: count)
      try SidecarFile.publish(bytes, to: folder("photo.xmp"))
      let file = try #require(SidecarFile(ofArchive: archive))
      #expect(file.bytes(within: nil) == (count <= SidecarFile.maxLength ? bytes : nil))
      #expect(try file.contents(within: nil) == bytes)
    }
  }

  @Test func `a link that leaves the library is not followed`() throws {
    try folder.write("secret", [1])
    try folder.write("library/other.szi", [])
    try FileManager.default.createSymbolicLink(
      atPath: folder("library/photo.xmp"), withDestinationPath: "../secret")
    let file = try #require(SidecarFile(ofArchive: folder("library/photo.szi")))
    let library = try RootDirectory(folder("library"))
    #expect(file.bytes(within: library) == nil && file.bytes(within: nil) == [1])
    #expect(throws: StorageError.self) { try file.contents(within: library) }
  }

  @Test func `a read that fails reports the system's error`() throws {
    // No address 0 is mapped.
    let link = folder("photo.xmp")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/proc/self/mem")
    let file = try #require(SidecarFile(path: link))
    let error = #expect(throws: StorageError.self) { try file.contents(within: nil) }
    #expect(error?.code == EIO && error?.isTemporary == true)
  }
}
