import Foundation
import Glibc
import ZigguratFiles

/// The meaning of a build's arguments: paths, names and patterns.
extension SourceScan {
  /// Returns the path that identifies an argument, wherever the program was started. It is absolute. A link that is
  /// named stays a link, since it may lead to another folder every night.
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

  /// Returns the folder's name, also for `.` and for a link.
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

  /// Returns the sources of a part of a plan.
  package func part(_ shard: WorkShard) -> SourceScan {
    SourceScan(
      sources: sources.filter { shard.has($0.work) }, roots: roots, failures: failures,
      passedOver: passedOver, books: books.filter { shard.has($0.key) },
      linkedIDs: linkedIDs)
  }
}
