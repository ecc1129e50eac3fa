import TileStorage
import ZigguratHTTPMessages

/// The XML responses of a store about a bucket's objects and multipart uploads.
enum S3Response {
  /// The maximum size of an object in bytes. It is larger than any store allows, and a hundred thousand sizes can be
  /// added.
  private static let maxSize = 1 << 46

  /// The response to one request for a list.
  struct ListPart {
    let page: ObjectPage
    /// Whether the store states that there are more objects.
    let hasMore: Bool
    /// `NextContinuationToken`; `nil` if the store sent none.
    let token: String?
  }

  /// Returns the objects of a page of a list; nil if the text is invalid. An object with an invalid size, or without an
  /// entity tag, is a stray key. It may be another program's, and must not hide the others.
  static func list(_ xml: [UInt8]) -> ListPart? {
    var objects: [(key: String, etag: String, byteCount: Int?)] = []
    var (isTruncated, token): (String, String?) = ("", nil)
    var (key, etag, size, isSound, isEncoded) = ("", "", "", true, false)
    let isWhole = read(xml, root: "ListBucketResult") { path, text in
      switch path {
      // Stores that do not encode keys omit `EncodingType`.
      case ["IsTruncated"]: isTruncated = text
      case ["NextContinuationToken"]: token = text.isEmpty ? nil : text
      case ["EncodingType"]: isEncoded = text == "url"
      case ["Contents", "Key"]: key = text
      case ["Contents", "ETag"]: etag = text
      case ["Contents", "Size"]: size = text
      case ["Contents"]:
        let count = Int(size).flatMap { (0...maxSize).contains($0) && !etag.isEmpty ? $0 : nil }
        objects.append((key, ResponseHead.quoted(etag), count))
        // The last key selects the next page.
        if key.isEmpty { isSound = false }
        key = ""
        etag = ""
        size = ""
      default: break
      }
    }
    guard isWhole, isSound else { return nil }
    var (versions, strayKeys, last): ([ObjectVersion], [[UInt8]], [UInt8]?) = ([], [], nil)
    for object in objects {
      guard let key = isEncoded ? decoded(object.key) : Array(object.key.utf8) else { return nil }
      last = key
      if let text = String(validating: key, as: UTF8.self), let count = object.byteCount {
        versions.append(ObjectVersion(key: text, etag: object.etag, byteCount: count))
      } else {
        strayKeys.append(key)
      }
    }
    return ListPart(
      page: ObjectPage(versions, strayKeys: strayKeys, lastKey: last, isLast: isTruncated == "false"),
      hasMore: isTruncated.lowercased() == "true", token: token)
  }

  /// Decodes a key as in URLs, in which some stores use a plus for a space.
  private static func decoded(_ key: String) -> [UInt8]? {
    PercentEncoding.decode(key.utf8.lazy.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }, allowsNUL: true)
  }

  /// Returns the id of a multipart upload that was started.
  static func upload(_ xml: [UInt8]) -> String? { text("UploadId", of: "InitiateMultipartUploadResult", xml) }

  /// Whether the parts were joined. A store may report a failure with status 200.
  static func isWhole(_ xml: [UInt8]) -> Bool { read(xml, root: "CompleteMultipartUploadResult") { _, _ in } }

  private static func text(_ name: String, of root: String, _ xml: [UInt8]) -> String? {
    var found: String?
    let isWhole = read(xml, root: root) { path, text in if path == [name], !text.isEmpty { found = text } }
    return isWhole ? found : nil
  }

  /// Calls `body` at the end of each element below the root, with the names on its path and its text.
  /// - Returns: whether the text is XML with that root.
  private static func read(_ xml: [UInt8], root: String, _ body: @escaping ([String], String) -> Void) -> Bool
  {
    var (path, text, isRoot): ([String], [UInt8], Bool) = ([], [], false)
    let status: Void? = try? XMLElements.read(
      xml,
      begin: { element in
        text = []
        if element.depth == 1 { isRoot = element.name == root } else { path.append(element.name) }
        // A store does not nest elements so deeply.
        return isRoot && element.depth < 16
      }, text: { if text.count < 4096 { text += $0 } },
      end: { _ in
        guard !path.isEmpty else { return }
        body(path, String(decoding: text, as: UTF8.self))
        path.removeLast()
        text = []
      })
    return status != nil && isRoot && path.isEmpty
  }
}
