import Glibc
import ZigguratCMicroHTTPD
import ZigguratHTTPMessages
import ZigguratTileServing

/// Refusals of requests whose headers the handler has seen, or libmicrohttpd alone.
extension HTTPConnection {
  /// Refuses a malformed request.
  func refuse(_ reason: MalformedRequest) -> MHD_Result {
    // The head may have left no memory for that of an answer.
    if reason == .longHead { return refuseDirectly(reason, isHead: request.isHead) }
    lingers = true
    noteAnswer(reason.status, reason.text.utf8CodeUnitCount)
    return queue(reason.response)
  }

  /// Refuses a request before its body was read.
  func refuse(with response: Response) -> MHD_Result {
    lingers = true
    return give(server.tileServer.finished(.response(response), for: RoutedRequest(attachedRequest)))
  }

  /// Refuses a request by writing to the socket, if libmicrohttpd does not take a response any more. This side of the
  /// connection ends, so that the daemon can write nothing more, and the daemon closes it.
  /// - Parameter isHead: whether the request is known to be a HEAD, to which no body is sent.
  /// - Returns: the handler's result, which has the daemon close the connection.
  @discardableResult
  func refuseDirectly(_ reason: MalformedRequest, isHead: Bool = false) -> MHD_Result {
    var message = reason.message(at: time(nil), isHead: isHead)
    // It fits into a socket's buffer, unless the client has not read the answers before it.
    _ = Glibc.send(socket, &message, message.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    shutdown(socket, Int32(SHUT_WR))
    lingers = true
    let isKnown = !request.isIdle
    if !isKnown { request.beginAnswer(.page) }
    let bytes = isHead ? 0 : reason.text.utf8CodeUnitCount
    request.setAnswer(reason.status, bytes)
    if server.log != nil {
      let target = request.uri.map { RequestTarget($0, request.hidden, below: server.tileServer.basePath) }
      request.logEntry = logEntry("-", target ?? .none, reason.status, bytes)
    }
    // The daemon reports only the end of requests that the handler has seen.
    if !isKnown { countAnswer() }
    return .NO
  }
}
