import ZigguratHTTPMessages
import ZigguratImageLibrary

/// Serves `/api/pairing.svg`: a QR code of the page's local URL with a pairing code, which lets one phone write.
struct PairingHandler: Handler {
  var context: RequestContext
  let codes: PairingCodes
  let sessions: SessionTable
  let clock: @Sendable () -> Int
  /// The page's URL in the local network; nil if other devices cannot reach the server.
  let localAddress: String?

  func reply() -> Response {
    if let refusal = principal.refusal(toChange: .library, request), !principal.mayWrite {
      return refusal.withNoStore
    }
    guard let address = localAddress else {
      // Other devices cannot reach this server. That is not an error, but there is nothing to show.
      return Response(204, [], .bytes([])).withNoStore
    }
    let code = codes.make(now: clock(), issuer: sessions.session(request)?.label)
    guard let svg = QRCode.svg("\(address)#token=\(code)") else {
      return .problem(500, "Too long", "the address does not fit into a QR code").withNoStore
    }
    return Response(200, [("Content-Type", "image/svg+xml")], .bytes(svg)).withNoStore
  }
}
