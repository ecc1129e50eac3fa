import ZigguratFiles
import ZigguratHTTPMessages

/// The images that one request deletes: `{"ids": […]}`.
struct DeletionList {
  let ids: [String]

  /// The invalid values of the body.
  struct ValidationError: Error {
    let errors: [InvalidInput]
  }

  private static let maximum = 1000
  private static let form = "it takes {\"ids\": […]}, of 1 to \(maximum) ids"

  /// A value of the body. Values that are not lists are not decoded.
  private enum Value: Decodable {
    /// A list, with `nil` for an element that is not a string. It ends at such an element or at one element too
    /// many.
    case list([String?])
    case other

    init(from decoder: any Decoder) throws {
      guard var list = try? decoder.unkeyedContainer() else {
        self = .other
        return
      }
      var texts: [String?] = []
      while !list.isAtEnd, texts.count <= DeletionList.maximum, texts.last != .some(nil) {
        texts.append(try? list.decode(String.self))
      }
      self = .list(texts)
    }
  }

  init(json: [UInt8]) throws(ValidationError) {
    guard let body = try? InputLimit.request.json.decode([String: Value].self, from: json) else {
      throw ValidationError(errors: [InvalidInput(body: [], Self.form)])
    }
    var errors = body.keys.filter { $0 != "ids" }.sorted().map {
      InvalidInput(body: [$0], "unknown member '\($0.prefix(40))'; \(Self.form)")
    }
    var ids: [String] = []
    switch body["ids"] {
    case .list(let texts):
      ids = texts.compactMap(\.self)
      if ids.count < texts.count {
        errors.append(InvalidInput(body: ["ids", "\(ids.count)"], "this id is not a text; \(Self.form)"))
      } else if !(1...Self.maximum).contains(ids.count) {
        errors.append(
          InvalidInput(body: ["ids"], "ids has \(ids.isEmpty ? "no ids" : "too many ids"); \(Self.form)"))
      }
    case .other: errors.append(InvalidInput(body: ["ids"], "ids is not a list; \(Self.form)"))
    case nil: errors.append(InvalidInput(body: ["ids"], "ids is missing; \(Self.form)"))
    }
    guard errors.isEmpty else { throw ValidationError(errors: Array(errors.prefix(InvalidInput.maximum))) }
    self.ids = ids
  }
}
