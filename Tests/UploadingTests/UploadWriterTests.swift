import Foundation
import Glibc
import Testing
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratUploading

/// Writers whose files cannot be opened, read or checked.
@Suite struct UploadWriterTests {
  private static let png: [UInt8] =
    [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + [UInt8](repeating: 0, count: 92)
  private let folder: TemporaryFolder
  private let uploads: Uploads

  init() throws {
    folder = try TemporaryFolder()
    uploads = try Uploads(library: folder.path)
  }

  private func upload(_ name: String = "a.png", vault: (any EncryptedUploadSink)? = nil) throws -> Upload {
    let upload = try uploads.reserve(name: name, folder: "", length: Self.png.count, vault: vault)
    try uploads.create(upload)
    return upload
  }

  private func send(_ writer: UploadWriter, _ bytes: [UInt8] = UploadWriterTests.png) {
    _ = bytes.withUnsafeBytes(writer.receive)
    writer.drain()
  }

  /// The kind of the error with which `body` ends.
  private func refusal(_ body: () throws -> Void) -> UploadError.Kind? {
    do {
      try body()
      return nil
    } catch { return (error as? UploadError)?.kind }
  }

  private func replaceByFolder(_ path: String) {
    #expect(unlink(path) == 0 && mkdir(path, 0o700) == 0)
  }

  /// A vault of which `failing` cannot be done.
  private struct FailingVault: EncryptedUploadSink {
    enum Call { case open, start }

    let failing: Call
    let owner = "owner"

    private func fail(_ call: Call) throws(StorageError) {
      if call == failing { throw StorageError("read", errno: EIO) }
    }

    func open() throws(StorageError) { try fail(.open) }
    func write(_ bytes: UnsafeRawBufferPointer, at position: Int) throws(StorageError) {}
    func start(_ count: Int) throws(StorageError) -> [UInt8] {
      try fail(.start)
      return Array(UploadWriterTests.png.prefix(count))
    }
    func discard() {}
  }

  @Test func `a complete upload is checked against the written file`() throws {
    let upload = try upload()
    let writer = try UploadWriter(upload, of: uploads, offset: 0)
    send(writer)
    replaceByFolder(uploads.file(of: upload))
    #expect(try writer.finish() == Self.png.count)
    #expect(upload.state.stage == .waiting)
  }

  @Test func `a temporarily unreadable file does not end the upload`() throws {
    let upload = try upload()
    let writer = try UploadWriter(upload, of: uploads, offset: 0)
    let path = uploads.file(of: upload)
    replaceByFolder(path)
    send(writer)
    #expect(refusal { _ = try writer.finish() } == .notWritable)
    #expect(upload.state.stage == .receiving && upload.state.offset == 0)
    #expect(rmdir(path) == 0)
    let second = try UploadWriter(upload, of: uploads, offset: 0)
    send(second)
    #expect(refusal { _ = try second.finish() } == .ended)
  }

  @Test func `a private upload that is temporarily unreadable is not rejected`() throws {
    let upload = try upload(vault: FailingVault(failing: .start))
    let writer = try UploadWriter(upload, of: uploads, offset: 0)
    // The start of a long first piece is checked in memory.
    send(writer, Array(Self.png.prefix(1)))
    send(writer, Array(Self.png.dropFirst()))
    #expect(refusal { _ = try writer.finish() } == .notWritable)
    #expect(upload.state.stage == .receiving)
  }

  @Test func `a private upload that fails for lack of space takes no slot`() throws {
    #expect(refusal { _ = try upload(vault: FailingVault(failing: .open)) } == .diskFull)
    #expect(uploads.all.isEmpty)
  }

  @Test(arguments: [("a.svs", Upload.ErrorCode.slide), ("a.png", .kind)])
  func `a rejected file is reported by its kind`(name: String, errorCode: Upload.ErrorCode) throws {
    let upload = try upload(name)
    let writer = try UploadWriter(upload, of: uploads, offset: 0)
    send(writer, [UInt8](repeating: 1, count: 100))
    #expect(refusal { _ = try writer.finish() } == .notAccepted)
    #expect(upload.state.errorCode == errorCode && upload.state.stage == .failed)
  }

  @Test func `an upload that is still being sent does not expire`() throws {
    let upload = try upload()
    let writer = try UploadWriter(upload, of: uploads, offset: 0)
    upload.change { $0.lastChange -= 2 * UploadLimits.expiry }
    send(writer, Array(Self.png.prefix(10)))
    uploads.expire()
    #expect(upload.state.stage == .receiving)
    send(writer, Array(Self.png.dropFirst(10)))
    #expect(try writer.finish() == Self.png.count)
  }

  @Test func `a writer of a cancelled upload does not queue its picture`() throws {
    let upload = try upload()
    let writer = try UploadWriter(upload, of: uploads, offset: 0)
    send(writer)
    uploads.cancel(upload)
    #expect(throws: UploadError.self) { try writer.finish() }
    #expect(upload.state.stage == .failed && upload.state.errorCode == .cancelled)
    #expect(refusal { _ = try UploadWriter(upload, of: uploads, offset: 0) } == .ended)
  }

  @Test func `free space is cached from the last check of the disk`() throws {
    var limits = UploadLimits()
    limits.reserve = 1 << 60
    let other = try TemporaryFolder()
    let full = try Uploads(library: other.path, limits: limits)
    #expect(full.hadRoom(1))
    #expect(!full.hasRoom(1))
    #expect(!full.hadRoom(1))
    #expect(uploads.hasRoom(1) && uploads.hadRoom(1))
  }
}
