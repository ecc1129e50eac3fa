import Foundation
import HTTPMessages

extension Router {
  /// `/openapi.json`
  func openAPI() -> Response {
    var document = OpenAPI.document(version: site.version, base: site.base, viewportSide: site.viewportSide)
    // What this server does not obey is not described.
    if site.access.isWritable, var paths = document["paths"] as? [String: Any] {
      for (path, methods) in OpenAPI.editing {
        paths[path] = (paths[path] as? [String: Any] ?? [:]).merging(methods) { known, _ in known }
      }
      document["paths"] = paths
    }
    // Strings, numbers, flags, lists and objects of them always serialise.
    return .json(
      Array(
        try! JSONSerialization.data(
          withJSONObject: document, options: [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted])))
  }
}
