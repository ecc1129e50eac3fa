import TileStorage
import ZigguratCMicroHTTPD
import ZigguratHTTPMessages
import ZigguratTileServing

/// Suspends the connection until a pending tile is there; returns false if `Site.respond` has to answer the request.
func waits(
  for arrival: TileArrival, _ connection: OpaquePointer, _ method: UnsafePointer<CChar>,
  _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> Bool {
  // For a client that has the tile already it is not fetched.
  guard method[0] == 0x47, header(connection, "If-None-Match") == nil, header(connection, "If-Match") == nil
  else { return false }
  let pending = PendingAnswer(connection, after: object(state) as? PendingAnswer)
  guard pending.mayAskAgain else { return false }
  keep(Unmanaged.passRetained(pending).toOpaque(), in: state)
  pending.wait(for: arrival)
  return true
}

/// Answers with a stored tile.
func answer(
  _ tile: TileReply, _ context: ServerContext, _ connection: OpaquePointer, _ target: RequestTarget,
  _ method: UnsafePointer<CChar>
) -> MHD_Result {
  let isGet = method[0] == 0x47
  let answer = withConditions(connection, isGet: isGet) {
    context.site.answer(tile, target.query, $0) { header(connection, $0) }
  }
  switch answer {
  case .instead(let response):
    return send(response, String(cString: method), context, connection, target)
  case .tile(let head):
    let bytes = isGet ? head.sentCount : 0
    deadline(connection)?._withUnsafeGuaranteedRef { $0.answer(head.status, bytes) }
    if context.log != nil {
      note(context, connection, String(cString: method), target, head.status, bytes)
    }
    return sendTile(tile, head, context, target, connection)
  }
}
