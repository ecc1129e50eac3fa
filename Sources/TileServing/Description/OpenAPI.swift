import Foundation
import Synchronization
import TileStorage
import ZigguratHTTPMessages
import ZigguratText
import ZigguratTileProtocols

/// The description of `/api` for programs, OpenAPI 3.1: `openapi.json` beside this file, with what this server is.
///
/// In the file `x-writable` marks operations that a server obeys only where it is writable, and a text that begins
/// with `$` stands for a value of the program's.
struct OpenAPI {
  let version: String
  /// The URL before every path; if empty, paths are relative to the root.
  let base: String
  let isWritable: Bool

  /// Indented, for people, too.
  var bytes: [UInt8] {
    // The file is a part of the program.
    let file = try! JSONDecoder().decode(JSONValue.self, from: Data(PackageResources.openapi_json))
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    return Array(try! encoder.encode(filled(file) ?? .null))
  }

  /// Returns the value as it applies to this server; nil if this server has nothing of it.
  private func filled(_ value: JSONValue) -> JSONValue? {
    switch value {
    case .object(var members):
      if members.removeValue(forKey: "x-writable") != nil, !isWritable { return nil }
      let filled = members.compactMapValues(filled)
      // A path whose every operation is gone.
      return filled.isEmpty && !members.isEmpty ? nil : .object(filled)
    case .list(let list): return .list(list.compactMap(filled))
    case .text(let text) where text.hasPrefix("$"): return own(String(text.dropFirst()))
    case .null, .flag, .integer, .number, .text: return value
    }
  }

  private func own(_ name: String) -> JSONValue {
    switch name {
    case "version": .text(version)
    case "base": .text(base.isEmpty ? "/" : base)
    case "sessionCookie": .text(SessionCookie(of: base).name)
    case "tileFormats": .list(TileFormat.allCases.map { .text($0.fileExtension) })
    case "tileSchemes": .list(TileScheme.allCases.map { .text($0.rawValue) })
    default: preconditionFailure("openapi.json asks for '\(name)'")
    }
  }
}

/// `/openapi.json` by the addresses at which clients reached the server lately. It is made once for each of a few addresses:
/// it takes more memory on the way than a thousand other responses.
final class DescriptionCache: Sendable {
  private let version: String
  private let base: String
  private let isWritable: Bool
  private let known = Mutex<[String: [UInt8]]>([:])

  init(version: String, base: String, isWritable: Bool) {
    self.version = version
    self.base = base
    self.isWritable = isWritable
  }

  /// - Parameter base: the address; `nil` for the server's own.
  func description(base: String?) -> [UInt8] {
    let base = base ?? self.base
    return known.withLock { known in
      if let known = known[base] { return known }
      if known.count >= 4 { known.removeAll() }
      let made = OpenAPI(version: version, base: base, isWritable: isWritable).bytes
      known[base] = made
      return made
    }
  }
}
