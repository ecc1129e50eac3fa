import ZigguratHTTPMessages
import ZigguratText
import ZigguratTileProtocols

extension APIRequest {
  /// Returns the response to a query with unknown or malformed parameters; `nil` for other queries.
  func refusal(of query: @autoclosure () -> DecodedQuery) -> Response? {
    guard let known = parameters else { return nil }
    let query = query()
    let others = query.parameters.lazy.filter {
      !known.contains(DeprecatedNames.present($0.name, among: known))
    }.prefix(InvalidInput.maximum).map {
      InvalidInput(parameter: $0.name, UnknownParameter($0.name, besides: known).description)
    }
    return query.problem(Array(others))
  }

  /// The allowed parameters of the query; `nil` if they are validated elsewhere. URLs of pictures and descriptions
  /// may contain a generation.
  private var parameters: [String]? {
    switch self {
    case .images: nil
    case .image(let image):
      switch image.question {
      case .viewport, .viewportTiles, .viewportPicture: nil
      case .animation, .original: ["v", "download"]
      case .move, .copies, nil: ["v"]
      }
    case .session, .trash, .restore, .uploads, .upload, .events, .pairing, .version: []
    case .nothing: nil
    }
  }
}
