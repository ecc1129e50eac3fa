import Foundation
import ZigguratTileServing

/// A URL of a server in options, by which clients reach it.
enum ServerURL {
  /// Reads the URL of an option; nil if the option is not given.
  static func read(_ option: String, _ arguments: Arguments) throws(UsageError) -> String? {
    guard let text = arguments.string(option) else { return nil }
    guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host != nil,
      url.query == nil, url.fragment == nil, url.user == nil, url.password == nil, BasePath(of: text).isPlain
    else {
      throw arguments.invalid(option, expected: "a URL such as https://example.org/images")
    }
    return text
  }
}
