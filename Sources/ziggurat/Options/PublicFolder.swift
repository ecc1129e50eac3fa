import Foundation

/// The default folder of the viewer's files: beside the installed program, or in the checkout in which it was built.
enum PublicFolder {
  static func find() -> String? {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    var candidates = [
      program.appendingPathComponent("../share/ziggurat/public"), URL(fileURLWithPath: "public"),
    ]
    var folder = program
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      if FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path) {
        candidates.append(folder.appendingPathComponent("public"))
      }
    }
    return candidates.map { $0.standardizedFileURL.path }.first {
      FileManager.default.fileExists(atPath: $0 + "/index.html")
    }
  }
}
