/// What stands in front of URLs that must be absolute.
extension Router {
  /// `--base-url`, or else what the client itself called the server; root-relative where it did not say.
  var absoluteBase: String {
    guard site.base.isEmpty, let host = request.header("Host"), Self.isHost(host) else { return site.base }
    return "http://" + host
  }

  /// A name or an address with a port: nothing that could end a URL's authority (RFC 3986, section 3.2).
  private static func isHost(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        switch $0 {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x3a, 0x5b, 0x5d, 0x5f: true
        default: false
        }
      }
  }
}
