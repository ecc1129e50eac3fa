import ZigguratFiles

/// A token or password that a client submits to log in.
enum Credential: Hashable {
  case token(String)
  case password(String)

  private static let maxLength = 1024

  /// Parses `{"token": "…"}` or `{"password": "…"}` with a value of 1 to 1024 bytes of UTF-8. Returns `nil` for any
  /// other JSON.
  init?(json: [UInt8]) {
    guard let object = try? InputLimit.request.json.decode([String: String].self, from: json),
      object.count == 1, let (name, text) = object.first,
      (1...Self.maxLength).contains(text.utf8.count)
    else { return nil }
    switch name {
    case "token": self = .token(text)
    case "password": self = .password(text)
    default: return nil
    }
  }
}
