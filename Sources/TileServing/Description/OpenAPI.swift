import Foundation
import Synchronization
import TileStorage
import ZigguratHTTPMessages
import ZigguratText
import ZigguratTileProtocols

/// The OpenAPI 3.1 description of `/api`: the resource `openapi.json` completed with the properties of this server.
///
/// In the file, `x-writable` marks operations that only a writable server has. A string that begins with `$` is a
/// placeholder for a value of the program.
struct OpenAPI {
  let version: String
  /// The prefix of every path; empty if paths are relative to the root.
  let base: String
  let isWritable: Bool

  /// The document as indented JSON, which people can read, too.
  var bytes: [UInt8] {
    // The file is compiled into the program.
    let file = try! JSONDecoder().decode(JSONValue.self, from: Data(PackageResources.openapi_json))
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    return Array(try! encoder.encode(filled(file) ?? .null))
  }

  /// Returns the value with its placeholders replaced; `nil` if this server does not support it.
  private func filled(_ value: JSONValue) -> JSONValue? {
    switch value {
    case .object(var members):
      if members.removeValue(forKey: "x-writable") != nil, !isWritable { return nil }
      let filled = members.compactMapValues(filled)
      // A path without remaining operations.
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

/// The rendered `/openapi.json` documents by the addresses at which clients reached the server recently. The cache
/// holds a few addresses, because rendering takes more memory than a thousand other responses.
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

  /// - Parameter base: the address; `nil` for the configured one.
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
