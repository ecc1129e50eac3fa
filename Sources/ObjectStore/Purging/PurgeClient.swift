import ZigguratCCurl

/// A client that purges responses from a shared cache in front of servers.
package struct PurgeClient: Sendable, CustomStringConvertible {
  private let url: String
  private let key: String

  /// Creates a client; `nil` if the text is not an address such as `http://127.0.0.1:6081/`.
  /// - Parameter key: the secret that authorizes the server to purge.
  package init?(_ text: String, key: String) {
    guard ["http://", "https://"].contains(where: { text.hasPrefix($0) && text.utf8.count > $0.utf8.count }),
      text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { return nil }
    url = text
    self.key = key
  }

  package var description: String { "the cache at \(url)" }

  /// Purges all responses with these keys. The request is `PURGE`, with the header of Varnish's xkey, and the secret in
  /// `Ziggurat-Edge-Key`. It takes at most five seconds.
  /// - Parameter keys: values of `Surrogate-Key`, few enough for one header.
  /// - Returns: whether the cache confirms the purge.
  package func forget(_ keys: [String]) -> Bool {
    guard let handle = EasyHandle() else { return false }
    handle.set(CURLOPT_URL, url)
    handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
    // Timeouts without signals, which could reach other threads.
    handle.set(CURLOPT_NOSIGNAL, 1)
    handle.set(CURLOPT_CONNECTTIMEOUT_MS, 1000)
    handle.set(CURLOPT_TIMEOUT_MS, 5000)
    handle.set(CURLOPT_USERAGENT, "ziggurat")
    // Without a proxy from the environment, which is meant for other servers.
    handle.set(CURLOPT_NOPROXY, "*")
    handle.set(CURLOPT_CUSTOMREQUEST, "PURGE")
    // The status of an error is a failure.
    handle.set(CURLOPT_FAILONERROR, 1)
    handle.set(callback: CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count }
    handle.add(header: "Ziggurat-Edge-Key", key)
    handle.add(header: "xkey-purge", keys.joined(separator: " "))
    handle.sealHeaders()
    guard curl_easy_perform(handle.raw) == CURLE_OK else { return false }
    // A redirect is no confirmation.
    var status = 0
    return ziggurat_curl_get_long(handle.raw, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK
      && (200..<300).contains(status)
  }
}
