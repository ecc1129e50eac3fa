import ZigguratHTTPMessages
import ZigguratImageLibrary

/// `/api/pairing.svg`: the page's address on the local network, with a code that lets one phone write.
struct PairingHandler: Handler {
  var call: Call
  let codes: PairingCodes
  let sessions: SessionTable
  let clock: @Sendable () -> Int
  /// The page's URL for others in the network; nil if they do not reach the server.
  let localAddress: String?

  func reply() -> Response {
    if let refusal = visitor.refusal(toChange: .library, request), !visitor.mayWrite {
      return refusal.withNoStore
    }
    guard let address = localAddress else {
      // Nobody else reaches this server: no fault, but nothing to show.
      return Response(204, [], .bytes([])).withNoStore
    }
    let code = codes.make(now: clock(), issuer: sessions.session(request)?.label)
    guard let svg = QRCode.svg("\(address)#token=\(code)") else {
      return .problem(500, "Too long", "the address does not fit into a QR code").withNoStore
    }
    return Response(200, [("Content-Type", "image/svg+xml")], .bytes(svg)).withNoStore
  }
}
