import Foundation

/// A folder of a test's own, removed with it.
public final class TemporaryFolder: Sendable {
  public let path: String

  public init() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "ziggurat-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    path = folder.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of `name` below the folder.
  public func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  public func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
    let file = self(name)
    try FileManager.default.createDirectory(
      atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    return file
  }

  /// Every file below `folder`, hidden ones too, sorted.
  public func files(below folder: String = "") -> [String] {
    let root = folder.isEmpty ? path : self(folder)
    let all = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    return all.filter { name in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: "\(root)/\(name)", isDirectory: &isFolder)
        && !isFolder.boolValue
    }.sorted()
  }
}

public func bytes(ofFile path: String) throws -> [UInt8] {
  Array(try Data(contentsOf: URL(fileURLWithPath: path)))
}
