import Foundation
import Testing
import ZigguratFiles
import ZigguratTestSupport

@Suite struct RootDirectoryTests {
  /// Whether what `path` leads to lies in `enclosure`.
  private func holds(_ enclosure: RootDirectory, _ path: String) throws -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0, "\(path)")
    defer { close(descriptor) }
    return enclosure.holds(descriptor)
  }

  @Test func `links are followed within the root, in any notation, and not out of it`() throws {
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
    #expect(storageError { _ = try RootDirectory(folder("none")) } != nil)
  }

  @Test func `folders are created within the root and not outside`() throws {
    let folder = try TemporaryFolder()
    for name in ["lib/file", "lib/y/file", "outside/file"] { try folder.write(name, [1]) }
    for (name, target) in [
      ("lib/x", folder("lib/y")), ("lib/out", "../outside"), ("lib/far", folder("outside")),
    ] {
      try FileManager.default.createSymbolicLink(atPath: folder(name), withDestinationPath: target)
    }
    let enclosure = try RootDirectory(folder("lib"))
    func reason(_ name: String) -> String? { storageError { try enclosure.make(folder(name)) }?.reason }
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

  @Test func `a root that is a link may be changed to another folder`() throws {
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
}
