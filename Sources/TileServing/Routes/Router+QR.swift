import ZigguratHTTPMessages
import ZigguratImageLibrary

/// `/api/pairing.svg`: the page's address on the local network, with a code that lets one phone write.
extension Router {
  func pairingCode() -> Response {
    if let refusal = visitor.refusal(toChange: .library, request), !visitor.mayWrite {
      return refusal.madePrivate
    }
    guard let address = site.localAddress.withLock({ $0 }) else {
      // Nobody else reaches this server: no fault, but nothing to show.
      return Response(204, [], .bytes([])).madePrivate
    }
    let code = site.pairing.make(now: site.access.clock(), issuer: site.sessions.session(request)?.label)
    guard let svg = QRCode.svg("\(address)#token=\(code)") else {
      return .problem(500, "Too long", "the address does not fit into a QR code").madePrivate
    }
    return Response(200, [("Content-Type", "image/svg+xml")], .bytes(svg)).madePrivate
  }
}
