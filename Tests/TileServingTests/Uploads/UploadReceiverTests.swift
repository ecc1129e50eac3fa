import Synchronization
import Testing
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTestSupport
import ZigguratUploading

@testable import ZigguratTileServing

/// Bodies of uploads that break off, or may not go on.
@Suite struct UploadReceiverTests {
  private static let request = Request(method: "PATCH", rawPath: Array("/api/uploads/x".utf8))
  private let folder: TemporaryFolder
  private let uploads: Uploads
  private let reported = Reported()

  private final class Reported: Sendable { let count = Atomic<Int>(0) }

  init() throws {
    folder = try TemporaryFolder()
    uploads = try Uploads(library: folder.path)
    uploads.observe { [reported] _ in reported.count.wrappingAdd(1, ordering: .relaxed) }
  }

  private func receiver(
    _ upload: Upload, in uploads: Uploads? = nil, needed: Int? = nil, isNew: Bool,
    isAllowed: @escaping @Sendable () -> Bool = { true }
  ) throws -> UploadReceiver {
    let uploads = uploads ?? self.uploads
    let writer = try UploadWriter(upload, of: uploads, offset: 0)
    guard isNew else {
      return UploadReceiver(writer, of: uploads, base: "", needed: needed, isAllowed: isAllowed)
    }
    return UploadReceiver(writer, of: uploads, base: "", needed: needed, isAllowed: isAllowed) {}
  }

  private func receive(_ receiver: UploadReceiver, _ bytes: [UInt8]) {
    _ = bytes.withUnsafeBytes(receiver.receive)
    receiver.drain()
  }

  @Test func `an upload that was never created leaves no trace`() throws {
    let upload = try uploads.reserve(name: "a.jpg", folder: "", length: 5)
    try receiver(upload, isNew: true).abandon()
    #expect(uploads.all.isEmpty && uploads.upload(upload.id) == nil)
    #expect(reported.count.load(ordering: .relaxed) == 0)
    #expect(try bytes(ofFile: folder(".ziggurat-uploads/.ended")).isEmpty)
  }

  @Test func `an upload that was created without an answer is cancelled`() throws {
    let upload = try uploads.reserve(name: "a.jpg", folder: "", length: 5)
    let receiver = try receiver(upload, isNew: true)
    receive(receiver, [1])
    receiver.abandon()
    #expect(upload.state.stage == .failed && upload.state.errorCode == .cancelled)
  }

  @Test(arguments: [true, false])
  func `nothing more is accepted once the session has ended`(isNew: Bool) throws {
    let session = Session()
    let upload = try uploads.reserve(name: "a.jpg", folder: "", length: 5)
    if !isNew { try uploads.create(upload) }
    let receiver = try receiver(upload, isNew: isNew) { session.isOpen.load(ordering: .relaxed) }
    receive(receiver, [1])
    session.isOpen.store(false, ordering: .relaxed)
    receive(receiver, [2, 3, 4, 5])
    #expect(receiver.answer(Self.request).status == 403)
    #expect(upload.state.stage == (isNew ? .failed : .receiving) && upload.state.offset == 0)
  }

  @Test(arguments: [true, false])
  func `bytes in memory are written after a broken connection only if the session is still open`(
    isOpen: Bool
  ) throws {
    let session = Session()
    let upload = try uploads.reserve(name: "a.jpg", folder: "", length: 5)
    try uploads.create(upload)
    let receiver = try receiver(upload, isNew: false) { session.isOpen.load(ordering: .relaxed) }
    _ = ([0xff, 0xd8, 0xff, 0xe0, 0] as [UInt8]).withUnsafeBytes(receiver.receive)
    session.isOpen.store(isOpen, ordering: .relaxed)
    receiver.abandon()
    #expect(upload.state.offset == (isOpen ? 5 : 0))
    #expect((upload.state.stage == .receiving) == !isOpen)
  }

  private final class Session: Sendable { let isOpen = Atomic<Bool>(true) }

  @Test func `a body without space on the disk is rejected`() throws {
    var limits = UploadLimits()
    limits.reserve = 1 << 60
    let other = try TemporaryFolder()
    let full = try Uploads(library: other.path, limits: limits)
    let upload = try full.reserve(name: "a.jpg", folder: "", length: 5)
    let receiver = try receiver(upload, in: full, needed: 5, isNew: false)
    receive(receiver, [1, 2])
    #expect(receiver.answer(Self.request).status == 507)
  }
}
