import ZigguratHTTPMessages

/// The methods that a path takes: answers to OPTIONS, and 405.
extension Router {
  var allowedMethods: [String] { ["GET", "HEAD", "OPTIONS"] + writingMethods }

  /// In JSON below `/api`, plain text elsewhere.
  var methodNotAllowed: Response {
    var isAPI: Bool { if case .api = path.route { true } else { false } }
    return .methodNotAllowed(besides: writingMethods, isProblem: isAPI)
  }

  /// To OPTIONS, the browsers' question before a request across origins included.
  var options: Response {
    var response = uploadOptions() ?? .options
    response["Allow"] = allowedMethods.joined(separator: ", ")
    return response
  }

  private var writingMethods: [String] {
    guard case .api(let asked) = path.route else { return [] }
    switch asked {
    case .session: return ["POST", "DELETE"]
    case .uploads where site.uploads != nil: return ["POST"]
    case .upload where site.uploads != nil: return ["PATCH", "DELETE"]
    case .image(let image) where site.access.isWritable: return methods(for: image)
    case .trash where site.access.isWritable, .restore where site.access.isWritable: return ["POST"]
    case .images, .image, .trash, .restore, .uploads, .upload, .events, .pairing, .version, .nothing:
      return []
    }
  }

  /// An image whose id looks like a question about another is that image.
  private func methods(for image: ImageRequest) -> [String] {
    if isImage(path.id(image.whole)) { return ["PATCH", "DELETE"] }
    return switch image.question {
    case .move, .copies: ["POST"]
    case .viewport, .viewportTiles, .viewportPicture, .animation, .original: []
    case nil: ["PATCH", "DELETE"]
    }
  }
}
