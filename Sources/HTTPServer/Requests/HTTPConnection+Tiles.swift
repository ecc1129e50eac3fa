import TileStorage
import ZigguratCMicroHTTPD
import ZigguratConcurrency
import ZigguratHTTPMessages
import ZigguratTileServing

/// Answers with stored tiles, without a string, an array or an object.
extension HTTPConnection {
  /// Answers with a stored tile, or suspends the connection until it is there; returns `nil` if `TileServer.respond`
  /// has to answer the request.
  func answerTile() -> MHD_Result? {
    guard !request.isOptions, !isMonitor else { return nil }
    let target = request.target
    let found = server.tileServer.tile(
      request.route, target.path, query: target.query, cookies: { request.cookie })
    switch found {
    case .found(let tile):
      // It stays mapped until the request is completed.
      request.stage = .tile(tile.archive.takeRetainedValue())
      return answer(tile)
    case .pending(let tile, let tag): return waits(for: tile, tag) ? .YES : nil
    case .other: return nil
    }
  }

  /// Suspends the connection until a pending tile is there; returns false if `TileServer.respond` has to answer the
  /// request.
  private func waits(for tile: any Pending, _ tag: TileETag) -> Bool {
    // The conditions of the others need no tile: HEAD, a client that has the tile, and a failed precondition.
    guard request.isGet, withConditions({ tag.outcome($0, length: nil) }) == .whole else { return false }
    let suspended = suspendedRequest()
    guard suspended.mayBeHandledAgain else { return false }
    request.stage = .suspended(suspended)
    return suspended.wait(for: tile)
  }

  private func answer(_ tile: StoredTileResponse) -> MHD_Result {
    let answer = withConditions { server.tileServer.answer(tile, request.target.query, $0) { header($0) } }
    switch answer {
    case .instead(let response): return send(response)
    case .tile(let head):
      noteAnswer(head.status, request.isGet ? head.sentCount : 0)
      return send(tile, head)
    }
  }
}
