import Foundation

extension Router {
  /// `/openapi.json`
  func openAPI() -> Response {
    let document = OpenAPI.document(version: site.version, base: site.base, viewportSide: site.viewportSide)
    // Strings, numbers, flags, lists and objects of them always serialise.
    return .json(
      Array(
        try! JSONSerialization.data(
          withJSONObject: document, options: [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted])))
  }
}
