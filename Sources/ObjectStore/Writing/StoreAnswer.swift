import HTTPMessages
import TileStorage

/// What a store says in XML of a bucket's objects and of uploads in parts.
enum StoreAnswer {
  /// The objects of a list's page; nil where it is none.
  static func page(_ xml: [UInt8]) -> ObjectPage? {
    var objects: [ObjectPin] = []
    var isLast = false
    var (key, etag, size, isSound, isEncoded) = ("", "", "", true, false)
    let isWhole = read(xml, root: "ListBucketResult") { path, text in
      switch path {
      // Those that do not encode keys do not say so.
      case ["IsTruncated"]: isLast = text == "false"
      case ["EncodingType"]: isEncoded = text == "url"
      case ["Contents", "Key"]: key = text
      case ["Contents", "ETag"]: etag = text
      case ["Contents", "Size"]: size = text
      case ["Contents"]:
        if let count = Int(size), count >= 0, !key.isEmpty, !etag.isEmpty {
          objects.append(ObjectPin(key: key, etag: AnswerHead.quoted(etag), byteCount: count))
        } else {
          isSound = false
        }
        (key, etag, size) = ("", "", "")
      default: break
      }
    }
    guard isWhole, isSound else { return nil }
    guard isEncoded else { return ObjectPage(objects, isLast: isLast) }
    return decoded(objects).map { ObjectPage($0, isLast: isLast) }
  }

  /// Keys as they come in URLs, of which some have a plus for a space.
  private static func decoded(_ objects: [ObjectPin]) -> [ObjectPin]? {
    var decoded: [ObjectPin] = []
    for object in objects {
      guard let key = PercentEncoding.decodedString(Array(object.key.replacing("+", with: " ").utf8)) else {
        return nil
      }
      decoded.append(ObjectPin(key: key, etag: object.etag, byteCount: object.byteCount))
    }
    return decoded
  }

  /// The name of an upload in parts that was begun.
  static func upload(_ xml: [UInt8]) -> String? { text("UploadId", of: "InitiateMultipartUploadResult", xml) }

  /// Whether the parts were put together: a store may say with status 200 that it failed.
  static func isWhole(_ xml: [UInt8]) -> Bool { read(xml, root: "CompleteMultipartUploadResult") { _, _ in } }

  private static func text(_ name: String, of root: String, _ xml: [UInt8]) -> String? {
    var found: String?
    let isWhole = read(xml, root: root) { path, text in if path == [name], !text.isEmpty { found = text } }
    return isWhole ? found : nil
  }

  /// Tells of each element below the root as it ends, with its names from there and the text that it ended with.
  /// - Returns: whether the text is XML with that root.
  private static func read(_ xml: [UInt8], root: String, _ body: @escaping ([String], String) -> Void) -> Bool
  {
    var (path, text, isRoot): ([String], [UInt8], Bool) = ([], [], false)
    let status: Void? = try? XMLElements.read(
      xml,
      begin: { element in
        text = []
        if element.depth == 1 { isRoot = element.name == root } else { path.append(element.name) }
        // What nests so deep is no answer of a store.
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
