import ZigguratText

/// An invalid part of a request, an item of `errors` in a problem document (RFC 9457, section 3).
package struct InvalidInput: Error, Hashable, Sendable {
  package enum Place: Hashable, Sendable {
    /// A parameter of the query.
    case parameter(String)
    /// A value of the body: a JSON Pointer as a URI fragment (RFC 6901, section 6); `#` for the whole body.
    case pointer(String)
  }

  /// The maximum number of errors in an answer. A request of 4 KB may have 2,000, and for each a suggestion is
  /// searched.
  package static let maximum = 10

  package let place: Place
  /// The error and the allowed values.
  package let detail: String

  package init(parameter: String, _ detail: String) { (place, self.detail) = (.parameter(parameter), detail) }

  /// - Parameter members: the names and numbers of the path to the value.
  package init(body members: [String], _ detail: String) {
    let pointer = members.map { "/" + Self.escaped($0) }.joined()
    place = .pointer("#" + pointer)
    self.detail = detail
  }

  private static func escaped(_ member: String) -> String {
    PercentEncoding.encode(
      String(member.prefix(100)).replacing("~", with: "~0").replacing("/", with: "~1"))
  }

  fileprivate func write(_ json: inout JSONWriter) {
    switch place {
    case .parameter(let name): json.member("parameter", name)
    case .pointer(let pointer): json.member("pointer", pointer)
    }
  }
}

extension Response {
  /// Creates a problem document that lists every invalid part of the request. The first is among the document's own
  /// members, too.
  /// - Parameter errors: at least one.
  package static func problem(
    _ title: String, _ errors: [InvalidInput], status: Int = 400
  ) -> Response {
    problem(status, title, errors.map(\.detail).joined(separator: "; ")) { json in
      json.key("errors")
      json.list { json in
        for error in errors {
          json.object { json in
            json.member("detail", error.detail)
            error.write(&json)
          }
        }
      }
      errors[0].write(&json)
    }
  }
}
