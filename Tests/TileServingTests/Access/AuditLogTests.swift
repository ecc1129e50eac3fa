import Foundation
import Synchronization
import Testing
import ZigguratHTTPMessages
import ZigguratTestSupport

@testable import ZigguratTileServing

@Suite struct AuditLogTests {
  private final class Reports: Sendable {
    let lines = Mutex<[String]>([])

    func notify(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private let folder: TemporaryFolder
  private let reports = Reports()
  private var path: String { folder("audit") }

  init() throws { folder = try TemporaryFolder() }

  private func open() throws -> AuditLog { try AuditLog(path: path) { [reports] in reports.notify($0) } }

  private func lines(_ path: String) throws -> [[String: Any]] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  @Test func `a line has event, time, client and session`() throws {
    var session = Session()
    (session.hasToken, session.label) = (true, "1234abcd")
    let log = try open()
    log.add(
      .edit(image: "a/\"b\"\n"), client: IPAddress("2001:db8::7"),
      principal: Principal(session, isWritable: true)
    )
    log.add(
      .delete(images: ["a", "b"], deletion: "x-1"), client: IPAddress("192.0.2.7"),
      principal: Principal(mayWrite: true))
    log.add(.login(.password, isRight: false), client: nil, principal: nil)
    let found = try lines(path)
    #expect(found.count == 3)
    #expect(found[0]["images"] as? [String] == ["a/\"b\"\n"])
    #expect(found[0]["client"] as? String == "2001:db8::7" && found[0]["by"] as? String == "session")
    #expect(found[0]["session"] as? String == "1234abcd")
    #expect(found[1]["by"] as? String == "token" && found[1]["deletion"] as? String == "x-1")
    #expect(found[2]["with"] as? String == "password" && found[2]["ok"] as? Bool == false)
    #expect(Set(found[2].keys) == ["time", "event", "with", "ok"])
  }

  @Test(arguments: [
    AuditEvent.edit(image: "~/secret"), .delete(images: ["~/secret", "~/other"], deletion: "~5f"),
    .restore(images: ["~/secret"], deletion: "~5f"), .move(to: "space"),
  ])
  func `events of a private space have no details`(event: AuditEvent) throws {
    let log = try open()
    log.add(event, client: IPAddress("192.0.2.7"), principal: nil)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(!text.contains("secret") && !text.contains("~"), "\(text)")
    #expect(try lines(path).count == 1)
  }

  @Test func `lines are appended to existing ones`() throws {
    try open().add(.logout, client: nil, principal: nil)
    try open().add(.lock, client: nil, principal: nil)
    #expect(try lines(path).map { $0["event"] as? String } == ["logout", "lock"])
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o007 == 0, "not for everybody")
  }

  @Test func `a file that was moved away is replaced by a new one`() throws {
    let log = try open()
    log.add(.logout, client: nil, principal: nil)
    #expect(rename(path, path + ".1") == 0)
    log.add(.lock, client: nil, principal: nil)
    #expect(unlink(path) == 0)
    log.add(.edit(image: "a"), client: nil, principal: nil)
    #expect(try lines(path + ".1").count == 1)
    #expect(try lines(path).map { $0["event"] as? String } == ["edit"])
    // Another file in its place.
    try Data().write(to: URL(fileURLWithPath: path + ".2"))
    #expect(rename(path + ".2", path) == 0)
    log.add(.logout, client: nil, principal: nil)
    #expect(try lines(path).map { $0["event"] as? String } == ["logout"])
    #expect(reports.lines.withLock { $0 } == [])
  }

  @Test func `a write error is reported once, and its end as well`() throws {
    // A disk that is always full, in the place of the file.
    #expect(symlink("/dev/full", path) == 0)
    let log = try open()
    for _ in 0..<3 { log.add(.logout, client: nil, principal: nil) }
    #expect(reports.lines.withLock { $0 } == ["cannot write the audit log \(path): No space left on device"])
    #expect(unlink(path) == 0)
    log.add(.lock, client: nil, principal: nil)
    #expect(reports.lines.withLock { $0.last } == "the audit log \(path) goes on; 3 of its lines are lost")
    #expect(try lines(path).count == 1)
  }

  @Test func `a file that cannot be opened is reported at once`() {
    #expect(throws: (any Error).self) { try AuditLog(path: folder.path + "/none/audit") { _ in } }
    #expect(throws: (any Error).self) { try AuditLog(path: folder.path) { _ in } }
  }
}
