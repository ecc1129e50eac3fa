/// The caches that may store a response, and the sites that may read it.
extension Response {
  /// The response for its client alone, without a tag: another response of the same state may have more content.
  package var uncacheable: Response {
    var answer = self
    answer["ETag"] = nil
    answer["Cache-Control"] = "no-store"
    return answer
  }

  /// The response without permission for caches to store it, or for pages of other sites to read it.
  package var withNoStore: Response { withNoStore(keepingTag: false) }

  /// - Parameter keepsTag: whether the entity tag is kept, for clients that edit the content.
  package func withNoStore(keepingTag keepsTag: Bool) -> Response {
    var answer = self
    answer.headers.removeAll { header in
      let name = header.name.lowercased()
      return name == "cache-control" || name == "etag" && !keepsTag || name.hasPrefix("access-control-")
        || name == "cross-origin-resource-policy"
    }
    answer.headers += [
      ("Cache-Control", "private, no-store"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    return answer
  }
}

extension Response {
  /// The response with the headers of every response, unless it sets them itself.
  package var withSecurityHeaders: Response {
    var answer = self
    for (name, value) in Self.caution where answer[name] == nil { answer.headers.append((name, value)) }
    return answer
  }
}
