import ZigguratHTTPMessages

/// Adds the header that tus requires in every response about uploads, except responses to OPTIONS.
struct UploadHeaders: Middleware {
  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    let answer = next(request)
    guard request.method != "OPTIONS", case .api(let asked)? = request.route else { return answer }
    return switch asked {
    case .uploads, .upload: answer.map(\.resumable)
    case .session, .images, .image, .trash, .restore, .events, .pairing, .version, .nothing: answer
    }
  }
}
