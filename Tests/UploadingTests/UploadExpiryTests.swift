import Testing
import ZigguratTestSupport

@testable import ZigguratUploading

@Suite struct UploadExpiryTests {
  private let folder: TemporaryFolder
  private let uploads: Uploads

  init() throws {
    folder = try TemporaryFolder()
    uploads = try Uploads(library: folder.path)
  }

  /// An upload whose last byte came so many seconds ago.
  private func upload(before seconds: Int) throws -> Upload {
    let upload = try uploads.reserve(name: "a.jpg", folder: "", length: 5)
    try uploads.create(upload)
    upload.change { $0.lastChange -= seconds }
    return upload
  }

  @Test func `an unfinished upload ends a day after its last byte`() throws {
    let (old, young) = (try upload(before: 86_402), try upload(before: 86_300))
    uploads.expire()
    #expect(old.state.stage == .failed && old.state.reason == "not finished in time")
    #expect(young.state.stage == .receiving)
    #expect(uploads.expiry(of: young) - young.state.lastChange == 86_400)
  }

  @Test func `a finished upload is forgotten after a week`() throws {
    let (old, young) = (try upload(before: 604_802), try upload(before: 604_700))
    for upload in [old, young] { upload.change { $0.stage = .done } }
    uploads.expire()
    #expect(uploads.all.map(\.id) == [young.id])
  }

  @Test func `the 1,001st upload is rejected`() throws {
    for _ in 0..<1000 { _ = try uploads.reserve(name: "a.jpg", folder: "", length: 5) }
    let error = #expect(throws: UploadError.self) {
      try uploads.reserve(name: "a.jpg", folder: "", length: 5)
    }
    #expect(error?.kind == .tooMany)
  }
}
