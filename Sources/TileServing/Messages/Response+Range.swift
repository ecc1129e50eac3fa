import HTTPMessages

extension Response {
  /// Whether it is a whole of known bytes, parts of which can be asked for.
  package var isDivisible: Bool {
    guard status == 200 else { return false }
    return switch body {
    case .bytes, .mapped, .gathered, .rendered: true
    case .rendering, .events, .deferred: false
    }
  }

  /// 206 with the part that a Range header asks for, 416 where there is none of it, or the whole where the header
  /// counts for nothing (RFC 9110, section 14).
  /// - Parameters:
  ///   - header: of the request, as `ByteRange` takes it.
  ///   - ifRange: the If-Range header: anything but the whole's own tag makes the range count for nothing.
  package func part(_ header: String, ifRange: String?) -> Response {
    let tag = self.header("ETag")
    // Without a tag there is nothing that If-Range could name.
    guard isDivisible, ifRange == nil || tag != nil else { return self }
    let range = ByteRange(header, length: byteCount, tag: tag ?? "", ifRange: ifRange)
    guard let contentRange = range.contentRange else { return self }
    var part = self
    part.status = range.status
    part.headers.append(("Content-Range", contentRange))
    part.body =
      switch body {
      case .bytes(let bytes): .bytes(Array(bytes[range.bytes]))
      case .mapped(let file, let all):
        .mapped(file, all.lowerBound + range.bytes.lowerBound..<all.lowerBound + range.bytes.upperBound)
      case .gathered(let bytes, _): .gathered(bytes, range.bytes)
      case .rendered(let bytes, _): .rendered(bytes, range.bytes)
      case .rendering, .events, .deferred: body
      }
    // Nobody keeps a refusal.
    if range.status == 416 {
      part.body = .bytes([])
      part.headers.removeAll { $0.name == "Cache-Control" }
      part.headers.append(("Cache-Control", "no-store"))
    }
    return part
  }
}
