/// The caches that may keep an answer, and the sites that may read it.
extension Response {
  /// The same answer for whom it is given to alone: another one of the same state would say more.
  package var forNow: Response {
    var answer = self
    answer["ETag"] = nil
    answer["Cache-Control"] = "no-store"
    return answer
  }

  /// The same answer, kept by no cache and read by no other site's page.
  package var madePrivate: Response { madePrivate(keepingTag: false) }

  /// - Parameter keepsTag: whether it says which version it is, for who edits what it tells of.
  package func madePrivate(keepingTag keepsTag: Bool) -> Response {
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
  /// The same answer with what every answer carries, where it says nothing else in its place.
  package var withCaution: Response {
    var answer = self
    for (name, value) in Self.caution where answer[name] == nil { answer.headers.append((name, value)) }
    return answer
  }
}
