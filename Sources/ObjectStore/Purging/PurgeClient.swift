import ZigguratCCurl

/// A shared cache in front of servers, which forgets when it is asked to.
package struct PurgeClient: Sendable, CustomStringConvertible {
  private let url: String
  private let key: String

  /// `nil` if the text is no address, such as `http://127.0.0.1:6081/`.
  /// - Parameter key: proves that the server may have images forgotten.
  package init?(_ text: String, key: String) {
    guard ["http://", "https://"].contains(where: { text.hasPrefix($0) && text.utf8.count > $0.utf8.count }),
      text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { return nil }
    url = text
    self.key = key
  }

  package var description: String { "the cache at \(url)" }

  /// Has everything forgotten that was answered under these keys: `PURGE`, with the header that Varnish's xkey is
  /// given, and the secret of `Ziggurat-Edge-Key`. Takes at most five seconds.
  /// - Parameter keys: values of `Surrogate-Key`, few enough for one header.
  /// - Returns: whether the cache says that it has.
  package func forget(_ keys: [String]) -> Bool {
    guard let handle = EasyHandle() else { return false }
    handle.set(CURLOPT_URL, url)
    handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
    // Timeouts without signals, which would end up in other threads.
    handle.set(CURLOPT_NOSIGNAL, 1)
    handle.set(CURLOPT_CONNECTTIMEOUT_MS, 1000)
    handle.set(CURLOPT_TIMEOUT_MS, 5000)
    handle.set(CURLOPT_USERAGENT, "ziggurat")
    // Not by way of a proxy that the environment names for other places.
    handle.set(CURLOPT_NOPROXY, "*")
    handle.set(CURLOPT_CUSTOMREQUEST, "PURGE")
    // A refusal is none.
    handle.set(CURLOPT_FAILONERROR, 1)
    handle.set(callback: CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count }
    handle.add(header: "Ziggurat-Edge-Key", key)
    handle.add(header: "xkey-purge", keys.joined(separator: " "))
    handle.sealHeaders()
    guard curl_easy_perform(handle.raw) == CURLE_OK else { return false }
    // Who is sent elsewhere has told nobody.
    var status = 0
    return ziggurat_curl_get_long(handle.raw, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK
      && (200..<300).contains(status)
  }
}
