import Foundation
import Testing
import TileGeometry
import ZigguratFiles
import ZigguratTestSupport

@testable import TileStorage

@Suite struct RootDirectoryTests {
  /// Whether what `path` leads to lies in `enclosure`.
  private func holds(_ enclosure: RootDirectory, _ path: String) throws -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0, "\(path)")
    defer { close(descriptor) }
    return enclosure.holds(descriptor)
  }

  @Test func `links are followed within, however they are written, and not out of it`() throws {
    let folder = try TemporaryFolder()
    for name in ["lib/a", "lib/deep/er/b", "library/c", "outside/d"] { try folder.write(name, [1]) }
    for (name, target) in [
      ("lib/relative", "deep/er/b"), ("lib/absolute", folder("lib/a")), ("lib/deep/up", "../a"),
      ("lib/there and back", "../lib/a"), ("lib/sub", "deep/er"), ("lib/twice", "relative"),
      ("lib/out", "../outside/d"), ("lib/root", "/etc/passwd"), ("lib/far", folder("outside")),
      ("lib/neighbour", "../library/c"), ("lib/over", "deep/farther"),
      ("lib/deep/farther", "../../outside/d"),
    ] { try FileManager.default.createSymbolicLink(atPath: folder(name), withDestinationPath: target) }
    let enclosure = try RootDirectory(folder("lib"))
    for name in [
      "a", "deep/er/b", "relative", "absolute", "deep/up", "there and back", "sub/b", "twice", "deep",
    ] {
      #expect(try holds(enclosure, folder("lib/\(name)")), "\(name)")
    }
    for name in ["out", "root", "far/d", "neighbour", "over", "../library/c", ".."] {
      #expect(try !holds(enclosure, folder("lib/\(name)")), "\(name)")
    }
    #expect(try holds(RootDirectory("/"), "/etc/passwd"))
    #expect(refusal { _ = try RootDirectory(folder("none")) } != nil)
  }

  @Test func `folders are made within and not out of it`() throws {
    let folder = try TemporaryFolder()
    for name in ["lib/file", "lib/y/file", "outside/file"] { try folder.write(name, [1]) }
    for (name, target) in [
      ("lib/x", folder("lib/y")), ("lib/out", "../outside"), ("lib/far", folder("outside")),
    ] {
      try FileManager.default.createSymbolicLink(atPath: folder(name), withDestinationPath: target)
    }
    let enclosure = try RootDirectory(folder("lib"))
    func reason(_ name: String) -> String? { refusal { try enclosure.make(folder(name)) }?.reason }
    for name in ["lib", "lib/", "lib/a", "lib/b/c//d", "lib/x", "lib/x/e"] {
      #expect(reason(name) == nil, "\(name)")
    }
    for name in ["lib/a", "lib/b/c/d", "lib/y/e"] {
      var isFolder: ObjCBool = false
      #expect(
        FileManager.default.fileExists(atPath: folder(name), isDirectory: &isFolder) && isFolder.boolValue)
    }
    #expect(reason("lib/file/a") == "there is a file of that name")
    for name in ["lib/out/a", "lib/far/a/b", "lib/y/../../outside/c"] {
      #expect(reason(name) == "a link leads out of \(folder("lib"))", "\(name)")
    }
    #expect(reason("library/a") == "it lies outside \(folder("lib"))")
    #expect(folder.files(below: "outside") == ["file"])
    #expect(enclosure.holds(path: folder("lib/any")) && enclosure.holds(path: folder("lib")))
    #expect(!enclosure.holds(path: folder("library")) && !enclosure.holds(path: folder("outside/file")))
  }

  @Test func `a folder that is a link may come to be another one`() throws {
    let folder = try TemporaryFolder()
    for name in ["one/a", "two/a"] { try folder.write(name, [1]) }
    let files = FileManager.default
    try files.createSymbolicLink(atPath: folder("lib"), withDestinationPath: "one")
    let enclosure = try RootDirectory(folder("lib"))
    #expect(try holds(enclosure, folder("lib/a")))
    #expect(try !holds(enclosure, folder("two/a")))
    try files.removeItem(atPath: folder("lib"))
    try files.createSymbolicLink(atPath: folder("lib"), withDestinationPath: "two")
    #expect(try holds(enclosure, folder("lib/a")))
    #expect(try !holds(enclosure, "/etc/passwd"))
  }

  @Test func `archives and tiles that a link leads to elsewhere are not read`() throws {
    let folder = try TemporaryFolder()
    let files = FileManager.default
    let elsewhere = try TemporaryFolder()
    try SmallArchive.write(to: elsewhere("a.szi"), SmallArchive.pyramid(9, 9, tileSize: 4))
    try files.createSymbolicLink(atPath: folder("a.szi"), withDestinationPath: elsewhere("a.szi"))
    let error = refusal { _ = try TileArchive(path: folder("a.szi"), within: RootDirectory(folder.path)) }
    #expect(error?.description == "cannot open \(folder("a.szi")): a link leads out of the folder")
    #expect(try TileArchive(path: folder("a.szi")).hasEveryTile)

    let descriptor = DeepZoomDescriptor(pyramid: SmallArchive.pyramid(9, 9, tileSize: 4), format: .jpeg)
    try folder.write("d.dzi", descriptor.xml.utf8)
    for (name, text) in [
      ("d_files/4/1_1.jpg", "tile"), ("d_files/4/0_1.jpg", "tile"), ("d_files/3/1_0.jpg", "tile"),
    ] {
      try folder.write(name, text.utf8)
    }
    try elsewhere.write("secret.jpg", "secret".utf8)
    try elsewhere.write("2/0_0.jpg", "secret".utf8)
    try files.createSymbolicLink(
      atPath: folder("d_files/4/0_0.jpg"), withDestinationPath: elsewhere("secret.jpg"))
    try files.createSymbolicLink(atPath: folder("d_files/4/1_0.jpg"), withDestinationPath: "1_1.jpg")
    try files.createSymbolicLink(atPath: folder("d_files/2"), withDestinationPath: elsewhere("2"))
    // With a library around it and as a file of its own.
    for enclosure in [try RootDirectory(folder.path), nil] {
      let archive = try TileArchive(path: folder("d.dzi"), within: enclosure)
      func tile(_ level: Int, _ column: Int, _ row: Int) -> [UInt8]? {
        archive.tileIndex(level: level, column: column, row: row).flatMap { archive.copy($0) }
      }
      #expect(tile(4, 1, 1) == Array("tile".utf8))
      #expect(tile(4, 1, 0) == Array("tile".utf8))
      #expect(tile(4, 0, 0) == nil)
      #expect(tile(2, 0, 0) == nil)
      // It is there: that it is not read is a fault, and no tile that was left out.
      let number = try #require(archive.tileIndex(level: 4, column: 0, row: 0))
      guard case .unreadable = archive.stored(number) else {
        Issue.record("\(archive.stored(number))")
        continue
      }
    }
  }
}
