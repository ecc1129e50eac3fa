/// Conditions and ranges, decided for a response or for the head of one that is pending.
extension Response {
  /// Returns the response to a GET or HEAD with these conditions. A status other than 200 stays under all conditions
  /// (RFC 9110, section 13.2.1).
  package func answering(_ conditions: OwnedConditions) -> Response {
    guard status == 200 else { return self }
    var response = self
    if length != nil { response["Accept-Ranges"] = "bytes" }
    switch conditions.outcome(tag: self["ETag"], length: length) {
    case .whole: break
    case .notModified: return response.notModified
    case .preconditionFailed: return preconditionFailed
    case .part(let part): response.cut(part)
    case .unsatisfiable: response.refuseRange()
    }
    return response
  }

  /// Returns 304 or 412 in place of a pending response with this head; nil if the conditions want that response.
  func instead(_ conditions: OwnedConditions) -> Response? {
    guard status == 200 else { return nil }
    return switch conditions.outcome(tag: self["ETag"], length: nil) {
    case .whole, .part, .unsatisfiable: nil
    case .notModified: notModified
    case .preconditionFailed: preconditionFailed
    }
  }

  private var notModified: Response {
    var response = self
    response.status = 304
    if let length { response.body = .lengthOnly(length) }
    return response
  }

  /// The response to a read whose If-Match names another version. No cache stores it. A site may read it if it may read
  /// the present version.
  package var preconditionFailed: Response {
    var response = Response.text(412, "there is another version now")
    response.headers.removeAll { $0.name == Self.anyOrigin.name }
    response.headers += headers.filter { header in
      let name = header.name.lowercased()
      return name == "vary" || name == "cross-origin-resource-policy" || name.hasPrefix("access-control-")
    }
    return response
  }

  private mutating func cut(_ part: Range<Int>) {
    self["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length ?? 0)"
    status = 206
    switch body {
    case .bytes(let bytes): body = .bytes(Array(bytes[part]))
    case .gathered(let bytes, _): body = .gathered(bytes, part)
    case .stream, .lengthOnly, .omitted: preconditionFailure("what has no length has no parts")
    }
  }

  private mutating func refuseRange() {
    self["Content-Range"] = "bytes */\(length ?? 0)"
    status = 416
    body = .bytes([])
    // Caches must not store a refusal.
    self["Cache-Control"] = "no-store"
  }
}

extension Reply {
  /// Returns the reply to a GET or HEAD with these conditions. No task starts for a client that has the response
  /// already, or wants another version.
  package func answering(_ conditions: OwnedConditions) -> Reply {
    if case .task(let pending) = self, let instead = pending.head?.instead(conditions) {
      return .response(instead)
    }
    return map { $0.answering(conditions) }
  }
}
