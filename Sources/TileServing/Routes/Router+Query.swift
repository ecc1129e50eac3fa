import HTTPMessages
import TileProtocols

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
    guard let known, let query = decodedQuery() else { return nil }
    let others = query.lazy.filter {
      !known.contains(FormerNames.present($0.name, among: known))
    }.prefix(InvalidInput.most).map {
      InvalidInput(parameter: $0.name, UnknownParameter($0.name, besides: known).description)
    }
    return others.isEmpty ? nil : .problem("Bad parameter", Array(others))
  }
}

extension APIRequest {
  /// What its query may have; nil where whoever reads the query knows. Pictures' and descriptions' URLs may be pinned
  /// to a generation.
  var parameters: [String]? {
    switch self {
    case .images: nil
    case .image(let image):
      switch image.question {
      case .viewport, .viewportTiles, .viewportPicture: nil
      case .animation, .original: ["v", "download"]
      case .move, .copies, nil: ["v"]
      }
    case .session, .trash, .restore, .uploads, .upload, .events, .pairing: []
    case .nothing: nil
    }
  }
}
