import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratUploading

/// Uploads that a server has left, as the next one takes them up; and the records that make that possible.
@Suite struct InterruptedUploadsTests {
  private let folder = try! TemporaryFolder()

  private func taken() throws -> Uploads { try Uploads(library: folder.path) }

  /// An upload of which all or the first bytes were sent, left by a server.
  private func left(_ count: Int = 5, _ change: (Uploads, Upload) throws -> Void = { _, _ in }) throws
    -> String
  {
    let uploads = try taken()
    let upload = try uploads.reserve(name: "a.jpg", folder: "", length: 5)
    try uploads.create(upload)
    try folder.write(".ziggurat-uploads/\(upload.id)/a.jpg", [UInt8](repeating: 1, count: count))
    if count == 5 { upload.change { $0.stage = .waiting } }
    try change(uploads, upload)
    return upload.id
  }

  private func record(_ id: String) -> String { folder(".ziggurat-uploads/\(id)/.record") }

  private func names() -> [String] { folder.files(below: ".ziggurat-uploads").filter { $0 != ".ended" } }

  @Test func `an upload with a record of another version is not changed`() throws {
    let (id, other) = (try left(), try left(3))
    try Data(#"{"version":2,"parts":[]}"#.utf8).write(to: URL(fileURLWithPath: record(id)))
    for _ in 0..<2 {
      let uploads = try taken()
      #expect(uploads.all.map(\.id) == [other])
      #expect(uploads.unread.count == 1 && uploads.unread[0].description.contains(id))
    }
    #expect(names().contains("\(id)/a.jpg") && names().contains("\(id)/.record"))
  }

  @Test func `an upload with an unreadable record is not changed`() throws {
    let id = try left()
    let text = try bytes(ofFile: record(id))
    #expect(unlink(record(id)) == 0 && mkdir(record(id), 0o700) == 0)
    #expect(try taken().unread.count == 1)
    #expect(rmdir(record(id)) == 0)
    try Data(text).write(to: URL(fileURLWithPath: record(id)))
    let uploads = try taken()
    #expect(uploads.unread.isEmpty && uploads.all.map(\.state.stage) == [.waiting])
  }

  @Test func `only incomplete and half-removed uploads are cleaned up`() throws {
    let (whole, withoutRecord, withoutBytes) = (try left(), try left(), try left())
    #expect(unlink(record(withoutRecord)) == 0)
    #expect(unlink(folder(".ziggurat-uploads/\(withoutBytes)/a.jpg")) == 0)
    try folder.write(".ziggurat-uploads/.\(String(repeating: "0", count: 32))/a.jpg", [1])
    try folder.write(".ziggurat-uploads/notes/a.txt", [1])
    let uploads = try taken()
    #expect(uploads.all.map(\.id) == [whole] && uploads.unread.isEmpty)
    #expect(names() == ["\(whole)/.record", "\(whole)/a.jpg", "notes/a.txt"].sorted())
  }

  @Test func `an upload cancelled during tiling is cancelled after a kill`() throws {
    let id = try left { uploads, upload in
      #expect(uploads.takeNext() === upload)
      try uploads.assign("a", for: upload)
      uploads.cancel(upload)
      #expect(!upload.hasEnded)
      // The picture is known, and the attempt counts, as before.
      uploads.discountAttempts()
    }
    let uploads = try taken()
    let upload = try #require(uploads.upload(id))
    #expect(upload.state.isCancelled && upload.state.image == "a" && upload.state.attempts == 0)
    #expect(uploads.takeNext() === upload)
  }

  @Test func `a record keeps simultaneous changes of two threads`() throws {
    let id = try left { uploads, upload in
      for number in 0..<100 {
        upload.change { $0.stage = .waiting }
        #expect(uploads.takeNext() === upload)
        let image: ImageID = "image-\(number)"
        DispatchQueue.concurrentPerform(iterations: 2) { at in
          if at == 0 { try? uploads.assign(image, for: upload) } else { uploads.discountAttempts() }
        }
        #expect(upload.state.image == image && upload.state.attempts == 0)
      }
    }
    #expect(try taken().upload(id)?.state.image == "image-99")
  }

  @Test func `an upload ends exactly once`() throws {
    let uploads = try taken()
    let ends = Mutex<[String: Int]>([:])
    uploads.observe { upload in
      if upload.hasEnded { ends.withLock { $0[upload.id, default: 0] += 1 } }
    }
    for _ in 0..<100 {
      let upload = try uploads.reserve(name: "a.jpg", folder: "", length: 5)
      try uploads.create(upload)
      upload.change { $0.stage = .waiting }
      DispatchQueue.concurrentPerform(iterations: 3) { at in
        if at > 0 { return uploads.cancel(upload) }
        guard let taken = uploads.takeNext() else { return }
        uploads.end(taken, .done, image: "a")
      }
      let count = ends.withLock { $0[upload.id] }
      #expect(upload.hasEnded && count == 1)
      #expect(uploads.takeNext() == nil)
    }
    #expect(names().isEmpty)
  }

  @Test func `an upload that has just been completed does not expire`() throws {
    let uploads = try taken()
    let upload = try uploads.reserve(name: "a.jpg", folder: "", length: 5)
    try uploads.create(upload)
    upload.change { state in
      state.lastChange -= 2 * UploadLimits.expiry
      state.stage = .waiting
    }
    uploads.expire()
    #expect(upload.state.stage == .waiting)
  }

  @Test func `images under construction are counted per library and space`() throws {
    struct Vault: EncryptedUploadSink {
      let owner: String
      func open() {}
      func write(_ bytes: UnsafeRawBufferPointer, at position: Int) {}
      func start(_ count: Int) -> [UInt8] { [] }
      func discard() {}
    }
    let uploads = try taken()
    let places: [(owner: String?, image: ImageID)] = [
      (nil, "open"), (nil, "other"), ("one", "first"), ("two", "second"),
    ]
    let all = try places.map { place in
      let vault = place.owner.map(Vault.init(owner:))
      let upload = try uploads.reserve(name: "a.jpg", folder: "", length: 5, vault: vault)
      upload.change { $0.image = place.image }
      return upload
    }
    #expect(uploads.imagesBegun(besides: all[0]) == ["other"])
    #expect(uploads.imagesBegun(besides: all[2]).isEmpty)
    let third = try uploads.reserve(name: "a.jpg", folder: "", length: 5, vault: Vault(owner: "two"))
    #expect(uploads.imagesBegun(besides: third) == ["second"])
  }
}
