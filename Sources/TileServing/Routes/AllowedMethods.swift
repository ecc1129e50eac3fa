/// The methods of a path besides GET, HEAD and OPTIONS.
enum AllowedMethods {
  /// - Parameters:
  ///   - isWritable: whether images can be changed over HTTP.
  ///   - isImage: whether the path of an image's subresource is itself the id of an image.
  static func writing(
    _ route: Route, takesUploads: Bool, isWritable: Bool = false,
    isImage: (ImageRequest) -> Bool = { _ in false }
  ) -> [String] {
    guard case .api(let request) = route else { return [] }
    switch request {
    case .session: return ["POST", "DELETE"]
    case .uploads where takesUploads: return ["POST"]
    case .upload where takesUploads: return ["PATCH", "DELETE"]
    case .image(let image) where isWritable:
      // An id that looks like a subresource of another image takes precedence.
      if isImage(image) { return ["PATCH", "DELETE"] }
      return switch image.question {
      case .move, .copies: ["POST"]
      case .viewport, .viewportTiles, .viewportPicture, .animation, .original: []
      case nil: ["PATCH", "DELETE"]
      }
    case .trash where isWritable, .restore where isWritable: return ["POST"]
    case .images, .image, .trash, .restore, .uploads, .upload, .events, .pairing, .version, .nothing:
      return []
    }
  }
}
