import Foundation

/// A PostgreSQL server that the tests of one run share, which ends with them.
public final class PostgreSQLServer: Sendable {
  public static let shared = Result { try PostgreSQLServer() }

  private let address: String
  // It lives as long as its standard input is open.
  private let input = Pipe()
  private let folder: TemporaryFolder

  private init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    let process = Process()
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("scripts/postgresql")
    process.executableURL = script
    process.arguments = [folder.path]
    let output = Pipe()
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    var line = ""
    while !line.hasSuffix("\n") {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { throw Tool.Failure(description: "no PostgreSQL server: \(line)") }
      line += String(decoding: more, as: UTF8.self)
    }
    address = line.trimmingCharacters(in: .newlines)
  }

  /// The address of a schema of that name, which is empty where nobody has asked for it before.
  public func schema(_ name: String) throws -> String {
    try Tool.check([
      "psql", "-q", address, "-c", "SET client_min_messages = error; CREATE SCHEMA IF NOT EXISTS \"\(name)\"",
    ])
    return "\(address)&options=-csearch_path%3D\"\(name)\""
  }
}
