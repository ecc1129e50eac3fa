import Foundation

/// A program of the system that tests compare with, such as `vips` or `unzip`.
public struct Tool {
  public struct Outcome {
    public let code: Int32
    public let output: String
    public let error: String
  }

  /// A tool that cannot be started or fails: what it said.
  public struct Failure: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) { self.description = description }
  }

  /// Runs `command[0]`, found in PATH, to its end.
  public static func run(_ command: [String], input: String = "") throws -> Outcome {
    let folder = try TemporaryFolder()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    // Files, because a full pipe would stop the tool.
    let names = ["input", "output", "error"].map { folder($0) }
    for name in names { try Data().write(to: URL(fileURLWithPath: name)) }
    try input.write(toFile: names[0], atomically: false, encoding: .utf8)
    process.standardInput = FileHandle(forReadingAtPath: names[0])
    process.standardOutput = FileHandle(forWritingAtPath: names[1])
    process.standardError = FileHandle(forWritingAtPath: names[2])
    try process.run()
    process.waitUntilExit()
    func text(_ name: String) -> String { String(decoding: (try? bytes(ofFile: name)) ?? [], as: UTF8.self) }
    return Outcome(code: process.terminationStatus, output: text(names[1]), error: text(names[2]))
  }

  /// The same; a failure is thrown.
  @discardableResult
  public static func check(_ command: [String], input: String = "") throws -> String {
    let outcome = try run(command, input: input)
    guard outcome.code == 0 else {
      throw Failure(description: "\(command.joined(separator: " ")): code \(outcome.code): \(outcome.error)")
    }
    return outcome.output
  }
}
