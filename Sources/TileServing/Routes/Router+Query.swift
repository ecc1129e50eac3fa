import HTTPMessages

/// The queries of the API.
extension Router {
  func decodedQuery() -> [(name: String, value: String)]? {
    var result: [(name: String, value: String)] = []
    for (name, value) in request.parameters {
      guard let name = PercentEncoding.decodedString(name), let value = PercentEncoding.decodedString(value)
      else { return nil }
      result.append((name, value))
    }
    return result
  }

  /// Of a query that has others than these; nil of one that has not.
  /// - Parameter known: nil where they are looked at elsewhere.
  func refusal(besides known: [String]?) -> Response? {
    guard let known, let query = decodedQuery(), let other = query.first(where: { !known.contains($0.name) })
    else { return nil }
    return .problem(400, "Bad parameter", UnknownParameter(other.name, besides: known).description)
  }
}

extension APIRequest {
  /// What its query may have; nil where whoever reads the query knows. Pictures' and descriptions' URLs may be pinned
  /// to a generation.
  var parameters: [String]? {
    switch self {
    case .images: ListQuery.parameters
    case .image(let image):
      switch image.question {
      case .viewport, .viewportTiles, .viewportPicture: nil
      case .animation, .original: ["g", "download"]
      case .move, .copies, nil: ["g"]
      }
    case .session, .deleted, .restore, .uploads, .upload, .events, .qrCode: []
    case .nothing: nil
    }
  }
}
