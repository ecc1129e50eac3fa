import Foundation
import Glibc
import Testing
import TileGeometry
import TileStorage
import ZigguratCSQLite
import ZigguratCatalog
import ZigguratFiles
import ZigguratMetadata
import ZigguratTestSupport

@testable import ZigguratImageLibrary

/// Changes of a folder's files: they are done, whatever the catalog says.
@Suite struct FolderRepositoryEditingTests {
  private let folder = try! TemporaryFolder()
  private let library: FolderRepository

  init() throws {
    let pyramid = Pyramid(imageSize: PixelSize(width: 40, height: 24)!, tileSize: 16)!
    let writer = try SZIWriter(destination: folder("a.szi"), name: "a", pyramid: pyramid, format: .png)
    for number in 0..<pyramid.tileCount {
      try [UInt8(number)].withUnsafeBytes { try writer.append(tile: number, $0, crc: checksum($0)) }
    }
    _ = try writer.finish()
    library = try FolderRepository(root: folder.path)
    try library.updateCatalog()
  }

  private func edit(_ title: String) throws -> LibraryEditor.Outcome {
    let edit = try MetadataEdit(json: Array(#"{"title": "\#(title)"}"#.utf8))
    return try library.edit("a", edit) { () throws(MetadataUnavailable) in true }
  }

  /// Another program that keeps the catalog locked while `body` runs.
  private func withLockedCatalog(_ body: () throws -> Void) throws {
    var other: OpaquePointer?
    #expect(sqlite3_open(folder(Catalog.fileName), &other) == SQLITE_OK)
    defer { sqlite3_close(other) }
    #expect(sqlite3_exec(other, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
    try body()
    #expect(sqlite3_exec(other, "ROLLBACK", nil, nil, nil) == SQLITE_OK)
  }

  @Test(arguments: ["edit", "delete", "restore"])
  func `a change succeeds while the catalog is locked, and the catalog is updated later`(
    change: String
  )
    throws
  {
    let deletion = change == "restore" ? try library.delete(["a"], at: Deletion.now).deletion : nil
    try withLockedCatalog {
      switch change {
      case "edit":
        guard case .done = try edit("new") else {
          Issue.record("it is not done")
          return
        }
      case "delete": #expect(try library.delete(["a"], at: Deletion.now).deletion?.images == ["a"])
      default:
        let name = try #require(deletion?.name)
        #expect(try library.restore(name, since: 0)?.restored == ["a"])
      }
    }
    // The table has the change, so that no look at the folder finds it.
    #expect(library.refresh())
    try library.updateCatalog()
    let entries = try library.catalog.entries(["a"])
    #expect(entries.count == (change == "delete" ? 0 : 1))
    if change == "edit" { #expect(entries.first?.metadata.title == "new") }
    #expect(!library.refresh())
  }

  private func mode(_ path: String) -> UInt32 {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode : 0
  }

  @Test func `a sidecar keeps its permissions, and a link to it stays a link`() throws {
    _ = try edit("first")
    let real = folder("words/a.xmp")
    #expect(mkdir(folder("words"), 0o700) == 0 && rename(folder("a.xmp"), real) == 0)
    #expect(symlink("words/a.xmp", folder("a.xmp")) == 0 && chmod(real, 0o600) == 0)
    guard case .done = try edit("second") else {
      Issue.record("it is not done")
      return
    }
    #expect(mode(folder("a.xmp")) & S_IFMT == S_IFLNK && mode(real) & 0o777 == 0o600)
    #expect(try String(decoding: bytes(ofFile: real), as: UTF8.self).contains("second"))
    #expect(try library.catalogEntry("a")?.entry.metadata.title == "second")
  }

  @Test func `a sidecar behind a link that leaves the library is not written`() throws {
    _ = try edit("first")
    let other = try TemporaryFolder()
    let real = other("a.xmp")
    #expect(rename(folder("a.xmp"), real) == 0 && symlink(real, folder("a.xmp")) == 0)
    let before = try bytes(ofFile: real)
    guard case .unreadableSidecar = try edit("second") else {
      Issue.record("it is written")
      return
    }
    let sidecar = try #require(SidecarFile(path: folder("a.xmp")))
    #expect(throws: StorageError.self) { try sidecar.replace(by: [1], within: RootDirectory(folder.path)) }
    #expect(try bytes(ofFile: real) == before)
  }
}
