import Foundation
import Glibc
import Testing
import ZigguratTestSupport

@testable import ZigguratUploading

@Suite struct UploadHistoryTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func upload(_ number: Int, metadata: String? = nil) -> Upload {
    let digits = String(number, radix: 16)
    return Upload(
      id: String(repeating: "0", count: 32 - digits.count) + digits, name: "\(number).jpg", folder: "",
      length: 5, state: Upload.State(), metadata: metadata)
  }

  private static func end(_ stage: Upload.Stage, at time: Int) -> Upload.State {
    var state = Upload.State()
    (state.stage, state.lastChange) = (stage, time)
    return state
  }

  private var size: Int {
    get throws { try Data(contentsOf: URL(fileURLWithPath: folder(".ended"))).count }
  }

  @Test func `the oldest records are removed, and the file stays small`() throws {
    let now = Uploads.now()
    let ended = UploadHistory(folder: folder.path, memory: 3600, most: 100)
    for number in 0..<1000 {
      ended.remember(Self.upload(number), Self.end(.done, at: now - 1000 + number))
      #expect(ended.contains(Self.upload(number).id))
    }
    let kept = (0..<1000).filter { ended.contains(Self.upload($0).id) }
    #expect((90...100).contains(kept.count) && kept == Array(1000 - kept.count..<1000))
    #expect(try size < 400 * 200)
    let again = UploadHistory(folder: folder.path, memory: 3600, most: 100)
    #expect((0..<1000).filter { again.contains(Self.upload($0).id) } == kept)
    #expect(again.upload(Self.upload(999).id)?.state.stage == .done)
  }

  @Test func `long metadata and reasons are not stored`() throws {
    let ended = UploadHistory(folder: folder.path, memory: 3600)
    let texts = [1024, 1025, 8000].map { "filename " + String(repeating: "A", count: $0 - 9) }
    for (number, text) in texts.enumerated() {
      var end = Self.end(.failed, at: Uploads.now())
      end.reason = String(repeating: "r", count: 8000)
      ended.remember(Self.upload(number, metadata: text), end)
    }
    #expect(try size < 3 * 2500)
    for memory in [ended, UploadHistory(folder: folder.path, memory: 3600)] {
      let kept = texts.indices.map { memory.upload(Self.upload($0).id) }
      #expect(kept.map { $0?.metadata } == [texts[0], nil, nil])
      #expect(kept.allSatisfy { $0?.state.reason?.count == 500 && $0?.name.hasSuffix(".jpg") == true })
    }
  }

  /// As Uppy sends it of a file whose name has 80 Chinese characters.
  @Test func `a long name is stored, and other long metadata is not`() throws {
    let name = Data((String(repeating: "\u{5199}", count: 80) + ".jpg").utf8).base64EncodedString()
    let sent =
      "relativePath bnVsbA==,name \(name),type aW1hZ2UvanBlZw==,filetype aW1hZ2UvanBlZw==,filename \(name)"
    let long = "note \(String(repeating: "A", count: 4000)),filename \(name),is_confidential"
    let ended = UploadHistory(folder: folder.path, memory: 3600)
    for (number, text) in [sent, long].enumerated() {
      ended.remember(Self.upload(number, metadata: text), Self.end(.done, at: Uploads.now()))
    }
    for memory in [ended, UploadHistory(folder: folder.path, memory: 3600)] {
      #expect(memory.upload(Self.upload(0).id)?.metadata == sent)
      #expect(memory.upload(Self.upload(1).id)?.metadata == "filename \(name),is_confidential")
    }
  }

  @Test func `long metadata in the file of a former version is not kept in memory`() throws {
    let ended = UploadHistory(folder: folder.path, memory: 3600)
    ended.remember(Self.upload(1, metadata: "filename YQ=="), Self.end(.done, at: Uploads.now()))
    let url = URL(fileURLWithPath: folder(".ended"))
    let text = try String(contentsOf: url, encoding: .utf8)
    let long = "filename " + String(repeating: "A", count: 8000)
    try text.replacing("filename YQ==", with: long).write(to: url, atomically: true, encoding: .utf8)
    let again = UploadHistory(folder: folder.path, memory: 3600)
    #expect(again.contains(Self.upload(1).id) && again.upload(Self.upload(1).id)?.metadata == nil)
  }

  @Test func `removed records stay removed`() throws {
    let now = Uploads.now()
    let ended = UploadHistory(folder: folder.path, memory: 100)
    for number in 0..<3 { ended.remember(Self.upload(number), Self.end(.failed, at: now - 60 * number)) }
    #expect((0..<3).map { ended.contains(Self.upload($0).id) } == [true, true, false])
    ended.forget(Self.upload(0).id)
    ended.forget(Self.upload(77).id)
    for memory in [UploadHistory(folder: folder.path, memory: 100), ended] {
      #expect((0..<3).map { memory.contains(Self.upload($0).id) } == [false, true, false])
    }
    #expect(!UploadHistory(folder: folder.path, memory: 10).contains(Self.upload(1).id))
    #expect(try size == 0)
  }

  @Test(arguments: ["", "\n\n", "{}\n", "\u{0}\u{0}", "{\"id\":\"../../x\"}\n", "[1,2"])
  func `invalid records are ignored`(_ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder(".ended")))
    let ended = UploadHistory(folder: folder.path, memory: 100)
    ended.remember(Self.upload(1), Self.end(.done, at: Uploads.now()))
    #expect(UploadHistory(folder: folder.path, memory: 100).contains(Self.upload(1).id))
  }

  @Test func `a query for an ended upload does not wait for the disk`() throws {
    let ended = UploadHistory(folder: folder.path, memory: 3600)
    ended.remember(Self.upload(1), Self.end(.done, at: Uploads.now()))
    // Opening a pipe waits until somebody reads it.
    let path = folder(".ended")
    #expect(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
    let (isWritten, isAsked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      ended.remember(Self.upload(2), Self.end(.done, at: Uploads.now()))
      isWritten.signal()
    }
    #expect(isWritten.wait(timeout: .now() + 0.3) == .timedOut)
    Thread.detachNewThread {
      _ = ended.upload(Self.upload(1).id)
      isAsked.signal()
    }
    #expect(isAsked.wait(timeout: .now() + 30) == .success)
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    isWritten.wait()
    #expect(ended.contains(Self.upload(2).id))
  }
}
