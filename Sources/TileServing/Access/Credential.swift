import Foundation

/// What a visitor gives to be let in.
enum Credential: Hashable {
  case token(String)
  case password(String)

  private static let longest = 1024

  /// `{"token": "…"}` or `{"password": "…"}` and nothing besides; 1 to 1024 bytes of UTF-8. Nil for anything
  /// else.
  init?(json: [UInt8]) {
    guard let object = try? JSONSerialization.jsonObject(with: Data(json)) as? [String: Any],
      object.count == 1, let (name, value) = object.first, let text = value as? String,
      (1...Self.longest).contains(text.utf8.count)
    else { return nil }
    switch name {
    case "token": self = .token(text)
    case "password": self = .password(text)
    default: return nil
    }
  }
}
