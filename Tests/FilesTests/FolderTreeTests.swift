import Testing
import ZigguratFiles
import ZigguratTestSupport

@Suite struct FolderTreeTests {
  @Test func `folders are created to any depth, and a file in the way is named`() throws {
    let folder = try TemporaryFolder()
    try FolderTree.make(folder("a/b/c"))
    try FolderTree.make(folder("a/b/c"))
    try folder.write("a/file", [1])
    for path in ["a/file", "a/file/below"] {
      let error = storageError { try FolderTree.make(folder(path)) }
      #expect(
        error?.description == "cannot make the folder \(folder("a/file")): there is a file of that name")
    }
  }

  @Test func `archives in a folder are found to any depth, except hidden ones`() throws {
    let folder = try TemporaryFolder()
    for name in ["b.szi", "a/c.szi", "a.txt", ".hidden.szi", ".git/d.szi", ".szi"] {
      try folder.write(name, [1])
    }
    #expect(try FolderTree.archives(at: folder.path) == [folder("a/c.szi"), folder("b.szi")])
    #expect(try FolderTree.archives(at: folder("a.txt")) == [folder("a.txt")])
    let error = storageError { _ = try FolderTree.archives(at: folder("absent")) }
    #expect(error?.description == "cannot open \(folder("absent")): No such file or directory")
  }
}
