import Foundation
import ZigguratTestSupport

/// The program as a user runs it: the executable built beside these tests.
enum Program {
  static let path = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("ziggurat").path

  static func run(_ arguments: [String], environment: [String] = []) throws -> Tool.Outcome {
    try Tool.run(["env"] + environment + [path] + arguments)
  }

  /// Runs a shell script, in which `$0` is the program and `$1`, `$2`, … are the arguments.
  static func shell(_ script: String, _ arguments: [String]) throws -> Tool.Outcome {
    try Tool.run(["sh", "-c", script, path] + arguments)
  }
}

extension Tool.Outcome {
  /// The messages of the program itself, one in each line.
  var complaints: [String] {
    error.split(separator: "\n").filter { $0.hasPrefix("ziggurat: ") }.map { String($0.dropFirst(10)) }
  }
}

/// Black pictures, written without any library; their pixels are a hole in the file.
enum Picture {
  static func write(_ folder: TemporaryFolder, _ name: String, _ width: Int, _ height: Int) throws -> String {
    let header = "P6 \(width) \(height) 255\n"
    let path = try folder.write(name, header.utf8)
    guard truncate(path, header.utf8.count + width * height * 3) == 0 else {
      throw Tool.Failure(description: "\(path): cannot be made longer")
    }
    return path
  }
}
