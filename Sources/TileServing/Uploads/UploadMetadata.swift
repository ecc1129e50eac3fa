import Foundation

/// The header `Upload-Metadata` of tus 1.0: keys and base64 values.
struct UploadMetadata {
  private(set) var values: [String: String] = [:]

  /// Nil where it is malformed or holds what is no UTF-8.
  init?(_ header: String) {
    for pair in header.split(separator: ",") {
      let parts = pair.split(separator: " ")
      guard (1...2).contains(parts.count) else { return nil }
      guard parts.count == 2 else {
        values[String(parts[0])] = ""
        continue
      }
      guard let data = Data(base64Encoded: String(parts[1])), let text = String(data: data, encoding: .utf8)
      else { return nil }
      values[String(parts[0])] = text
    }
  }
}
