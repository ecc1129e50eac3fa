import Foundation
import Testing
import ZigguratTestSupport

@testable import ZigguratFiles

@Suite struct AtomicFileTests {
  private func write(_ text: String, to file: AtomicFile) throws {
    try Array(text.utf8).withUnsafeBytes { try file.write($0) }
  }

  @Test func `the destination keeps its old content until the new one is complete`() throws {
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
  @Test func `publishing from many threads gives no file wider permissions`() throws {
    let folder = try TemporaryFolder()
    let mask = Umask.value
    #expect(mkdir(folder("created"), 0o777) == 0)
    var created = stat()
    stat(folder("created"), &created)
    #expect(created.st_mode & 0o777 == 0o777 & ~mask)
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

  /// A compromised process would keep a descriptor or a mapping to change the file after its check and publication.
  @Test func `a writer that still holds a handed-out file is detected`() throws {
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

  @Test func `an abandoned or released file leaves nothing`() throws {
    let folder = try TemporaryFolder()
    let file = try AtomicFile(destination: folder("a"))
    #expect(folder.files().count == 1)
    file.abandon()
    #expect(folder.files() == [])
    do { try write("x", to: try AtomicFile(destination: folder("b"))) }
    #expect(folder.files() == [])
  }

  @Test func `leftovers are temporary files that no process holds`() throws {
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

  @Test func `a missing folder, or a folder of the file's name, is reported`() throws {
    let folder = try TemporaryFolder()
    let missing = storageError { _ = try AtomicFile(destination: folder("no/a.szi")) }
    #expect(missing?.description == "cannot write into \(folder("no")): No such file or directory")
    try folder.write("a.szi/inside", [1])
    let file = try AtomicFile(destination: folder("a.szi"))
    let inTheWay = storageError { try file.publish() }
    #expect(inTheWay?.description == "cannot write \(folder("a.szi")): a folder has this name; rename it")
    file.abandon()
    #expect(folder.files() == ["a.szi/inside"])
  }

  @Test(arguments: [("a/b", "a"), ("/a", "/"), ("a", "."), ("/a/b/c", "/a/b"), ("a/", "a")])
  func `a path has a parent folder`(path: String, folder: String) {
    #expect(parentFolder(path) == folder)
  }
}
