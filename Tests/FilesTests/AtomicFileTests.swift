import Foundation
import Testing
import TileGeometry
import ZigguratTestSupport

@testable import TileStorage
@testable import ZigguratFiles

@Suite struct AtomicFileTests {
  private func write(_ text: String, to file: AtomicFile) throws {
    try Array(text.utf8).withUnsafeBytes { try file.write($0) }
  }

  @Test func `the destination keeps its old content until the new one is whole`() throws {
    let folder = try TemporaryFolder()
    try folder.write("a", "old".utf8)
    let file = try AtomicFile(destination: folder("a"))
    try write("new", to: file)
    #expect(try bytes(ofFile: folder("a")) == Array("old".utf8))
    try file.publish()
    #expect(try bytes(ofFile: folder("a")) == Array("new".utf8))
    #expect(folder.files() == ["a"])
    file.abandon()
    #expect(folder.files() == ["a"])
  }

  /// Files get the permissions that a new file has, and what others make meanwhile keeps its own.
  @Test func `publishing from many threads opens nothing to others`() throws {
    let folder = try TemporaryFolder()
    let mask = Umask.value
    #expect(mkdir(folder("told"), 0o777) == 0)
    var effective = stat()
    stat(folder("told"), &effective)
    #expect(effective.st_mode & 0o777 == 0o777 & ~mask)
    DispatchQueue.concurrentPerform(iterations: 2000) { number in
      var status = stat()
      mkdir(folder("d\(number)"), 0o777)
      stat(folder("d\(number)"), &status)
      #expect(status.st_mode & 0o777 == 0o777 & ~mask)
      try? AtomicFile(destination: folder("f\(number)")).publish()
      stat(folder("f\(number)"), &status)
      #expect(status.st_mode & 0o777 == 0o666 & ~mask)
    }
  }

  @Test(
    arguments: [
      ("Name:\tziggurat\nUmask:\t0027\nState:\tR (running)\n", 0o027), ("Umask:\t0000\n", 0),
      ("Name:\tUmask\nState:\tR\n", nil), ("Umask:\tabc\n", nil), ("", nil),
    ] as [(String, mode_t?)])
  func `the mask is read from what the kernel tells`(text: String, mask: mode_t?) {
    #expect(Umask.mask(inStatus: text) == mask)
  }

  /// What a process that turned hostile would keep of a file, to change it once it was checked and published.
  @Test func `who could still write a file that was handed out is seen`() throws {
    let folder = try TemporaryFolder()
    let file = try AtomicFile(destination: folder("a"), isHandedOut: true)
    try write("content", to: file)
    let kept = dup(file.descriptor)
    let mapped = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, kept, 0)
    #expect(mapped != MAP_FAILED)
    // Nor can they have it taken for a leftover.
    #expect(flock(kept, LOCK_UN) == 0)
    #expect(AtomicFile.removeLeftovers(in: folder.path) == 0)
    #expect(file.withdraw() == .some)
    close(kept)
    #expect(file.withdraw() == .some)
    munmap(mapped, 4096)
    #expect(file.withdraw() == .none)
    #expect(AtomicFile.removeLeftovers(in: folder.path) == 0)
    try file.publish()
    #expect(try bytes(ofFile: folder("a")) == Array("content".utf8))
    #expect(folder.files() == ["a"])
  }

  @Test func `abandoned or forgotten, it leaves nothing`() throws {
    let folder = try TemporaryFolder()
    let file = try AtomicFile(destination: folder("a"))
    #expect(folder.files().count == 1)
    file.abandon()
    #expect(folder.files() == [])
    do { try write("x", to: try AtomicFile(destination: folder("b"))) }
    #expect(folder.files() == [])
  }

  @Test func `a writer that is let go before its end leaves nothing`() throws {
    let folder = try TemporaryFolder()
    let pyramid = SmallArchive.pyramid(9, 9, tileSize: 4)
    do {
      let writer = try SZIWriter(destination: folder("a.szi"), name: "a", pyramid: pyramid, format: .jpeg)
      try writer.append("vendor/note", [1, 2, 3])
      #expect(!folder.files().isEmpty)
    }
    #expect(folder.files() == [])
  }

  @Test func `leftovers are those that nobody holds, and nothing else`() throws {
    let folder = try TemporaryFolder()
    for name in [
      ".ziggurat-abc123.partial", "deep/er/.ziggurat-x.partial", ".ziggurat-", "a.partial", "a.szi", ".other",
      ".hidden/.ziggurat-y.partial",
    ] { try folder.write(name, [1]) }
    let held = try AtomicFile(destination: folder("b.szi"))
    #expect(folder.files().count == 8)
    FolderTree.removeLeftovers(below: folder.path)
    #expect(folder.files().count == 6)
    #expect(!folder.files().contains(".ziggurat-abc123.partial"))
    #expect(!folder.files().contains("deep/er/.ziggurat-x.partial"))
    try write("still", to: held)
    try held.publish()
    #expect(try bytes(ofFile: folder("b.szi")) == Array("still".utf8))
    #expect(AtomicFile.removeLeftovers(in: folder.path) == 0)
    #expect(AtomicFile.removeLeftovers(in: folder("absent")) == 0)
  }

  @Test func `a folder that is not there, or a folder in its place, is effective`() throws {
    let folder = try TemporaryFolder()
    let missing = refusal { _ = try AtomicFile(destination: folder("no/a.szi")) }
    #expect(missing?.description == "cannot write into \(folder("no")): No such file or directory")
    try folder.write("a.szi/inside", [1])
    let file = try AtomicFile(destination: folder("a.szi"))
    let inTheWay = refusal { try file.publish() }
    #expect(inTheWay?.description == "cannot write \(folder("a.szi")): a folder has this name; rename it")
    file.abandon()
    #expect(folder.files() == ["a.szi/inside"])
  }

  @Test func `a full disk is effective as what a retry may mend`() throws {
    let full = StorageError("write x", errno: ENOSPC)
    #expect(full.isTemporary)
    #expect(full.description == "cannot write x: No space left on device")
    #expect(!StorageError("write x", errno: EACCES).isTemporary)
    #expect(!StorageError("write x", "no").isTemporary)
  }

  @Test(arguments: [("a/b", "a"), ("/a", "/"), ("a", "."), ("/a/b/c", "/a/b"), ("a/", "a")])
  func `the folder of a path`(path: String, folder: String) {
    #expect(parentFolder(path) == folder)
  }

  @Test func `folders are made to any depth, and a file in the way is named`() throws {
    let folder = try TemporaryFolder()
    try FolderTree.make(folder("a/b/c"))
    try FolderTree.make(folder("a/b/c"))
    try folder.write("a/file", [1])
    for path in ["a/file", "a/file/below"] {
      let error = refusal { try FolderTree.make(folder(path)) }
      #expect(
        error?.description == "cannot make the folder \(folder("a/file")): there is a file of that name")
    }
  }

  @Test func `archives of a folder are found to any depth, hidden ones left out`() throws {
    let folder = try TemporaryFolder()
    for name in ["b.szi", "a/c.szi", "a.txt", ".hidden.szi", ".git/d.szi", ".szi"] {
      try folder.write(name, [1])
    }
    #expect(try FolderTree.archives(at: folder.path) == [folder("a/c.szi"), folder("b.szi")])
    #expect(try FolderTree.archives(at: folder("a.txt")) == [folder("a.txt")])
    let error = refusal { _ = try FolderTree.archives(at: folder("absent")) }
    #expect(error?.description == "cannot open \(folder("absent")): No such file or directory")
  }
}
