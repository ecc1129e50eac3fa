import ZigguratFiles
import ZigguratHTTPMessages

/// A bucket and a prefix in it, such as `s3://bucket/prefix`.
package struct ObjectAddress: Hashable, Sendable, CustomStringConvertible {
  package let bucket: BucketName
  /// The prefix of every key: empty, or ending in a slash.
  package let prefix: String

  static let scheme = "s3://"

  /// Parses an address; nil if the text is invalid. `s3://bucket` and `s3://bucket/` are the same.
  package init?(_ text: String) {
    guard text.hasPrefix(Self.scheme) else { return nil }
    let parts = text.dropFirst(Self.scheme.count).split(
      separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let bucket = BucketName(String(parts[0])) else { return nil }
    var prefix = parts.count > 1 ? String(parts[1]) : ""
    if !prefix.isEmpty, !prefix.hasSuffix("/") { prefix += "/" }
    guard prefix.isEmpty || Self.isPlain(prefix.dropLast()) else { return nil }
    self.bucket = bucket
    self.prefix = prefix
  }

  /// - Parameter prefix: any prefix. That of a folder has a slash at its end.
  init(bucket: BucketName, prefix: String) {
    self.bucket = bucket
    self.prefix = prefix
  }

  /// - Parameter folder: a plain name with a slash at its end.
  func below(_ folder: String) -> ObjectAddress { ObjectAddress(bucket: bucket, prefix: prefix + folder) }

  package var description: String { "s3://\(bucket.text)/\(prefix.dropLast())" }

  /// Whether a key of this program needs no encoding in any URL.
  package static func isPlain(_ key: some StringProtocol) -> Bool {
    key.utf8.count <= 900 && isReadable(key)
      && key.utf8.allSatisfy { $0 == UInt8(ascii: "/") || PercentEncoding.isUnreserved($0) }
  }

  /// Whether an object with any key can be requested. Its parts must be neither empty nor dots, which URLs do not
  /// preserve.
  static func isReadable(_ key: some StringProtocol) -> Bool {
    // The parts of an image's id have the same rules.
    key.utf8.count <= 1024 && ImageID(String(key)) != nil
  }
}

/// The name of a bucket: 3 to 63 lower-case letters, digits, hyphens and dots. It begins and ends with a letter or a
/// digit.
package struct BucketName: Hashable, Sendable {
  package let text: String

  package init?(_ text: String) {
    func isEnd(_ byte: UInt8?) -> Bool {
      guard let byte else { return false }
      return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    let bytes = Array(text.utf8)
    guard (3...63).contains(bytes.count), isEnd(bytes.first), isEnd(bytes.last),
      bytes.allSatisfy({ isEnd($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }),
      !text.contains("..")
    else { return nil }
    self.text = text
  }

  /// Whether the name can stand before a host name. A wildcard certificate does not cover names with dots.
  var isHostName: Bool { !text.contains(".") }
}
