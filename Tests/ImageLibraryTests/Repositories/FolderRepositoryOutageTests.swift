import Foundation
import Glibc
import Testing
import TileGeometry
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratImageLibrary

/// A folder that goes away while its library is open.
@Suite struct FolderRepositoryOutageTests {
  private func write(_ folder: TemporaryFolder, _ name: String) throws {
    let pyramid = Pyramid(imageSize: PixelSize(width: 4, height: 4)!, tileSize: 4)!
    try FileManager.default.createDirectory(atPath: folder("library"), withIntermediateDirectories: true)
    let writer = try SZIWriter(
      destination: folder("library/\(name).szi"), name: name, pyramid: pyramid, format: .png)
    for tile in 0..<pyramid.tileCount {
      let bytes: [UInt8] = [1, 2, UInt8(tile)]
      try bytes.withUnsafeBytes { try writer.append(tile: tile, $0, crc: checksum($0)) }
    }
    _ = try writer.finish()
  }

  private func kind(_ library: FolderRepository, _ id: ImageID) -> StorageError.Kind? {
    do throws(StorageError) { return try library.archive(id) == nil ? .notFound : nil } catch {
      return error.kind
    }
  }

  @Test(arguments: [false, true], [false, true])
  func `images of a missing folder are unreachable until it returns`(isReplaced: Bool, watches: Bool) throws {
    let folder = try TemporaryFolder()
    for name in ["a", "b"] { try write(folder, name) }
    let library = try FolderRepository(root: folder("library"), watches: watches)
    try library.updateCatalog()
    #expect(kind(library, "a") == nil)
    #expect(rename(folder("library"), folder("away")) == 0)
    if isReplaced { #expect(mkdir(folder("library"), 0o755) == 0) }
    // Before anybody looked: what is asked for first finds it out.
    #expect(kind(library, "b") == .unreachable)
    #expect(kind(library, "a") == .unreachable)
    for _ in 0..<3 {
      #expect(!library.refresh())
      library.reload()
      try library.updateCatalog(readsAll: true, isCancelled: { false }, unreadable: { _ in })
    }
    #expect(library.outage != nil)
    #expect(refusal { _ = try library.list(LibrarySelection(), after: nil, limit: 10) } == .unreachable)
    #expect(library.count == 2)
    #expect(try library.catalog.count() == 2 && library.catalog.unreadableCount() == 0)
    if isReplaced {
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder("library")) == [])
      rmdir(folder("library"))
    }
    #expect(rename(folder("away"), folder("library")) == 0)
    _ = library.refresh()
    #expect(library.outage == nil)
    #expect(kind(library, "a") == nil && kind(library, "b") == nil)
    #expect(try library.list(LibrarySelection(), after: nil, limit: 10).total == 2)
    // It goes on seeing changes.
    try write(folder, "c")
    if library.refresh() { try library.updateCatalog() }
    #expect(kind(library, "c") == nil)
  }

  private func refusal(_ body: () throws -> Void) -> StorageError.Kind? {
    do { try body() } catch { return (error as? StorageError)?.kind }
    return nil
  }

  @Test func `deleted archives are no outage`() throws {
    let folder = try TemporaryFolder()
    try write(folder, "a")
    let library = try FolderRepository(root: folder("library"))
    try library.updateCatalog()
    unlink(folder("library/a.szi"))
    #expect(kind(library, "a") == .notFound)
    if library.refresh() { try library.updateCatalog() }
    #expect(library.outage == nil && library.count == 0)
    #expect(try library.catalog.count() == 0)
  }

  @Test func `another library of the same name is no outage`() throws {
    let folder = try TemporaryFolder()
    try write(folder, "a")
    let library = try FolderRepository(root: folder("library"))
    try library.updateCatalog()
    #expect(rename(folder("library"), folder("away")) == 0)
    try write(folder, "b")
    _ = library.refresh()
    #expect(library.outage == nil)
    #expect(kind(library, "a") == .notFound && kind(library, "b") == nil)
  }
}
