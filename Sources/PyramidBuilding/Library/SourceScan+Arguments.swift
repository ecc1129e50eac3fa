import Foundation
import Glibc
import ZigguratFiles

/// What arguments of a build mean: paths, names and patterns.
extension SourceScan {
  /// What tells an argument from others, wherever the program was started: absolute, but a link that is named
  /// stays one, for what it leads to may be another folder every night.
  package static func path(ofArgument argument: String) -> String {
    let path = trimmed(argument)
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    if [".", "..", ""].contains(name) { return resolved(path) }
    let folder = resolved(parentFolder(path))
    return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
  }

  /// Without slashes at its end.
  static func trimmed(_ argument: String) -> String {
    var path = argument
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }

  static func resolved(_ path: String) -> String {
    guard let buffer = realpath(path, nil) else {
      return URL(fileURLWithPath: path).standardizedFileURL.path
    }
    defer { free(buffer) }
    return String(cString: buffer)
  }

  /// Also of `.` and of a link: what a person calls the folder.
  static func name(ofFolder path: String) -> String {
    let name = URL(fileURLWithPath: path).standardizedFileURL.lastPathComponent
    return name == "/" ? "book" : name
  }

  static func glob(_ pattern: String) -> [String] {
    var result = glob_t()
    defer { globfree(&result) }
    guard Glibc.glob(pattern, 0, nil, &result) == 0 else { return [] }
    return (0..<Int(result.gl_pathc)).compactMap { index in
      result.gl_pathv[index].flatMap { String(validatingCString: $0) }
    }
  }

  /// What of it is in a part of a plan.
  package func part(_ shard: WorkShard) -> SourceScan {
    SourceScan(
      sources: sources.filter { shard.has($0.work) }, roots: roots, failures: failures,
      passedOver: passedOver, books: books.filter { shard.has($0.key) },
      linkedIDs: linkedIDs)
  }
}
