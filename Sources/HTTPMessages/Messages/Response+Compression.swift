import ZigguratCDeflate

extension Response {
  /// Returns the response in gzip if the client accepts it and the body is text of some length.
  package func compressed(for acceptEncoding: String?) -> Response {
    guard case .bytes(let bytes) = body, Self.isText(self["Content-Type"] ?? ""),
      self["Content-Encoding"] == nil
    else { return self }
    var response = self
    response.vary(by: "Accept-Encoding")
    guard bytes.count >= 1024, let acceptEncoding, ContentCodings(acceptEncoding).takeGzip,
      // Compressed for this one response: a fast level.
      let gzip = Self.gzip(bytes, level: 4)
    else { return response }
    response.body = .bytes(gzip)
    response["Content-Encoding"] = "gzip"
    // Other bytes need another tag (RFC 9110, section 8.8.3.3); equal bytes have the same one.
    if let tag = response["ETag"] { response["ETag"] = String(tag.dropLast()) + "\(EntityTag.compressedEnd)" }
    return response
  }

  /// Compresses bytes; nil if the result would not be shorter.
  package static func gzip(_ bytes: [UInt8], level: Int32) -> [UInt8]? {
    guard let compressor = libdeflate_alloc_compressor(level) else { return nil }
    defer { libdeflate_free_compressor(compressor) }
    var result = [UInt8](repeating: 0, count: libdeflate_gzip_compress_bound(compressor, bytes.count))
    let count = libdeflate_gzip_compress(compressor, bytes, bytes.count, &result, result.count)
    return count > 0 && count < bytes.count ? Array(result[..<count]) : nil
  }

  /// Whether it is text by its subtype or structured suffix (RFC 6838, section 4.2.8); parameters are ignored.
  private static func isText(_ mediaType: String) -> Bool {
    let name = mediaType.utf8.prefix { $0 != UInt8(ascii: ";") }
    return name.starts(with: "text/".utf8) || name.suffix(4).elementsEqual("json".utf8)
      || name.suffix(3).elementsEqual("xml".utf8)
  }
}
