import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols

/// The router: creates the handler of each route, with the dependencies that it needs.
extension TileServer {
  // MARK: Reads

  func resource(_ context: RequestContext) -> Reply {
    switch context.path.route {
    case .tiles(let request): TileHandler(context: context, images: images, pictures: pictures).reply(request)
    case .presentation(let request):
      PresentationHandler(context: context, images: images, identity: identity).reply(request)
    case .api(let request): api(request, context)
    case .view(let id): pages(context).view(context.path.reference(id))
    case .embed(let id?): pages(context).frame(context.path.reference(id))
    case .embed(nil): .response(pages(context).embedPage)
    case .oEmbed: EmbeddingHandler(context: context, images: images, identity: identity).reply()
    case .openAPI: .response(.json(descriptions.description(base: context.request.publicBase)))
    case .health: .response(monitoring(context).health)
    case .metrics: .response(monitoring(context).metricsOrNothing)
    case .page: .response(pages(context).page)
    }
  }

  private func api(_ request: APIRequest, _ context: RequestContext) -> Reply {
    if let refusal = request.refusal(of: DecodedQuery(context.request.parameters)) {
      return .response(refusal)
    }
    switch request {
    case .images:
      return .response(ListHandler(context: context, images: images, isWritable: access.isWritable).list())
    case .image(let image): return self.image(image, context)
    case .uploads, .upload, .events: return .response(uploadState(request, context))
    case .pairing:
      return .response(
        PairingHandler(
          context: context, codes: pairing, sessions: sessions, clock: access.clock,
          localAddress: localAddress.withLock { $0 }
        ).reply())
    case .version: return .response(VersionHandler(version: version).response)
    case .trash where access.isWritable: return .response(trash(context).list())
    case .trash, .restore, .session, .nothing:
      return .problem(404, "Not found", "there is no such part of the API")
    }
  }

  private func image(_ request: ImageRequest, _ context: RequestContext) -> Reply {
    let handler = DescriptionHandler(context: context, images: images, originals: originals)
    guard request.question != nil else { return handler.reply(context.path.reference(request.whole)) }
    // A subresource of a book is that of its cover.
    return handler.withCover(of: context.path.reference(request.id)) { [self] handler, reference in
      let context = handler.context
      var viewport: ViewportHandler {
        ViewportHandler(
          context: context, images: images, pictures: pictures, originals: originals, mappedTiles: mappedTiles
        )
      }
      var original: OriginalHandler {
        OriginalHandler(context: context, images: images, originals: originals)
      }
      return switch request.question {
      case .viewport: viewport.coverage(reference)
      case .viewportTiles: viewport.tiles(reference)
      case .viewportPicture(let ending): viewport.picture(reference, context.path.text(ending))
      case .animation: original.animation(reference)
      case .original: original.original(reference)
      // These accept no reads.
      case .move, .copies, nil: handler.reply(context.path.reference(request.whole))
      }
    }
  }

  private func uploadState(_ request: APIRequest, _ context: RequestContext) -> Response {
    let handler = uploads(context)
    if let elsewhere = redirect.response(toReadOf: request, context, refusal: handler.readRefusal) {
      return elsewhere
    }
    return switch request {
    case .upload(let id): handler.one(id.map(context.path.text))
    case .events: handler.stream()
    default: handler.list()
    }
  }

  private func pages(_ context: RequestContext) -> PageHandler {
    PageHandler(
      context: context, images: images, files: files, identity: identity, frameAncestors: access.frames)
  }

  private func monitoring(_ context: RequestContext) -> MonitoringHandler {
    MonitoringHandler(
      context: context, images: images, access: access, metrics: metrics, disk: disk, pictures: pictures,
      mappedTiles: mappedTiles, uploads: uploads, version: version)
  }

  // MARK: Changes

  func bodyPlan(for context: RequestContext) -> RequestBodyPolicy {
    guard case .api(let request) = context.path.route else {
      return .refuse(.methodNotAllowed(besides: [], isProblem: false))
    }
    if let elsewhere = redirect.response(to: request, context) {
      // A principal that may change nothing gets a refusal instead of a redirect.
      let principal = context.principal
      let refusal = principal.mayWriteToSpace ? nil : principal.refusal(toChange: .library, context.request)
      return .refuse((refusal ?? elsewhere).withNoStore)
    }
    switch request {
    case .session: return .collect { [sessionHandler] in sessionHandler.reply(to: $0) }
    case .uploads: return uploads(context).plan(nil)
    case .upload(let id?): return uploads(context).plan(context.path.text(id))
    case .images, .image, .trash, .restore, .upload(nil), .events, .pairing, .version, .nothing: break
    }
    let methods = writingMethods(context)
    let notAllowed = RequestBodyPolicy.refuse(.methodNotAllowed(besides: methods, isProblem: true))
    guard methods.contains(context.request.method) else { return notAllowed }
    switch request {
    case .image(let image):
      if context.request.method == "POST", case .move? = image.question {
        return MoveHandler(
          context: context, images: images, changes: changes, upkeep: upkeep, passwords: passwords,
          uploads: uploads
        ).plan(image.id)
      }
      if context.request.method == "POST" {
        return CopyHandler(context: context, images: images, changes: changes, uploads: uploads).plan(
          image.id)
      }
      return edits(context).plan(image.whole)
    case .trash: return edits(context).deletionsPlan()
    case .restore(let deletion): return trash(context).restorePlan(context.path.text(deletion))
    case .session, .images, .uploads, .upload, .events, .pairing, .version, .nothing: return notAllowed
    }
  }

  private func edits(_ context: RequestContext) -> EditHandler {
    EditHandler(
      context: context, images: images, originals: originals, changes: changes, editor: editor, trash: trash)
  }

  private func trash(_ context: RequestContext) -> TrashHandler {
    TrashHandler(context: context, images: images, changes: changes, trash: trash)
  }

  private func uploads(_ context: RequestContext) -> UploadHandler {
    UploadHandler(
      context: context, uploads: uploads, events: events, sessions: sessions, audit: changes.audit)
  }

  private var redirect: WriterRedirect {
    WriterRedirect(catalog: library.catalog, isWritable: access.isWritable, uploads: uploads)
  }

  func writingMethods(_ context: RequestContext) -> [String] {
    AllowedMethods.writing(
      context.path.route, takesUploads: uploads != nil, isWritable: access.isWritable,
      isImage: { RenameHandler(context: context, images: images).isImage(context.path.reference($0.whole)) })
  }

  /// Replies to OPTIONS, including preflight requests.
  func options(_ context: RequestContext) -> Response {
    let methods = ["GET", "HEAD", "OPTIONS"] + writingMethods(context)
    if let preflight = crossOrigin.preflight(context.request, methods) { return preflight }
    var response = uploads(context).options(methods) ?? .options
    response["Allow"] = methods.joined(separator: ", ")
    return response
  }
}
