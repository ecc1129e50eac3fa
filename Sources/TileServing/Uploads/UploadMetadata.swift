import Foundation

/// The header `Upload-Metadata` of tus 1.0: unique keys, and arbitrary bytes in base64 as values.
struct UploadMetadata {
  /// The header as sent; `nil` if it has no pairs.
  let header: String?
  private var values: [String: Data] = [:]

  /// Returns `nil` if the header is malformed.
  init?(_ header: String) {
    for pair in header.split(separator: ",") {
      let parts = pair.split(separator: " ")
      guard (1...2).contains(parts.count), Self.isPlain(parts[0]) else { return nil }
      // A value may be empty, and the space before it may be omitted.
      guard let value = parts.count == 1 ? Data() : Data(base64Encoded: String(parts[1])),
        values.updateValue(value, forKey: String(parts[0])) == nil
      else { return nil }
    }
    self.header = values.isEmpty ? nil : header
  }

  /// Returns the value of a key as text; empty if the key is absent.
  /// - Returns: `nil` if the value is not UTF-8.
  func text(_ key: String) -> String? { String(data: values[key] ?? Data(), encoding: .utf8) }

  /// Whether a key is printable ASCII, so that it can be repeated in a response header.
  private static func isPlain(_ key: Substring) -> Bool { key.utf8.allSatisfy { (0x21...0x7e).contains($0) } }
}
