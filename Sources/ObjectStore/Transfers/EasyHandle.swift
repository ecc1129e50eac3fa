import Synchronization
import TileStorage
import ZigguratCCurl

/// A handle of libcurl: a request and its state. Only one thread at a time uses it.
final class EasyHandle {
  let raw: UnsafeMutableRawPointer
  private var headers: UnsafeMutablePointer<curl_slist>?
  /// The buffer for libcurl's error message, which lives as long as the handle.
  private let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  /// The host of the last request, and the file of certificates that it was checked with.
  private var (host, certificates): (String, String?) = ("", nil)

  /// Whether libcurl and its libraries are initialized, once for the process.
  private static let library: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  /// Creates a handle; nil if there is no memory.
  init?() {
    guard Self.library, let raw = curl_easy_init() else { return nil }
    self.raw = raw
    message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    curl_easy_cleanup(raw)
    message.deallocate()
    curl_slist_free_all(headers)
  }

  /// Resets everything except the connections.
  func reset() {
    curl_easy_reset(raw)
    curl_slist_free_all(headers)
    headers = nil
  }

  func set(_ option: CURLoption, _ value: Int) { ziggurat_curl_set_long(raw, option, value) }

  func set(size option: CURLoption, _ value: Int) { ziggurat_curl_set_size(raw, option, curl_off_t(value)) }

  /// Sets an option to a text, which is copied.
  func set(_ option: CURLoption, _ value: String) {
    _ = value.withCString { ziggurat_curl_set_pointer(raw, option, $0) }
  }

  func set(pointer option: CURLoption, _ value: UnsafeRawPointer?) {
    ziggurat_curl_set_pointer(raw, option, value)
  }

  func set(
    callback option: CURLoption,
    _ value:
      @escaping @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int
  ) {
    ziggurat_curl_set_callback(raw, option, value)
  }

  /// Adds a header. All headers are signed.
  func add(header name: String, _ value: String) {
    headers = curl_slist_append(headers, "\(name): \(value)") ?? headers
  }

  /// Sets the target of the request and its credentials.
  /// - Parameters:
  /// - Parameters:
  ///   - url: the URL with encoded parameters in the order of their names, as it is signed.
  ///   - payload: the SHA-256 of the body, hexadecimal.
  ///   - signed: an earlier signature of the same request; nil if libcurl has to sign it.
  func prepare(_ settings: ObjectSettings, url: String, payload: String, signed: SignedRead? = nil) {
    set(CURLOPT_URL, url)
    set(CURLOPT_PROTOCOLS_STR, settings.endpoint.scheme)
    message[0] = 0
    set(pointer: CURLOPT_ERRORBUFFER, message)
    host = settings.endpoint.host
    certificates = settings.trust.file
    // Read for each connection, so that a change by an administrator needs no restart.
    if let file = settings.trust.file { set(CURLOPT_CAINFO, file) }
    if let folder = settings.trust.folder { set(CURLOPT_CAPATH, folder) }
    // Timeouts without signals, which could reach other threads.
    set(CURLOPT_NOSIGNAL, 1)
    // One connection for each transfer, so that an error ends only one transfer.
    set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    set(CURLOPT_TCP_NODELAY, 1)
    set(CURLOPT_USERAGENT, "ziggurat")
    add(header: "x-amz-content-sha256", payload)
    guard let credentials = settings.credentials else { return }
    if let token = credentials.sessionToken { add(header: "x-amz-security-token", token) }
    if let signed {
      add(header: "Authorization", signed.authorization)
      add(header: "X-Amz-Date", signed.date)
      return
    }
    set(CURLOPT_AWS_SIGV4, "aws:amz:\(settings.region.text):s3")
    set(CURLOPT_USERNAME, credentials.accessKey)
    set(CURLOPT_PASSWORD, credentials.secretKey)
  }

  /// Passes the headers to libcurl. Must be called after the last header is added.
  func sealHeaders() { set(pointer: CURLOPT_HTTPHEADER, headers) }

  /// Returns the reason why TLS did not protect the connection; nil if something else ended the transfer.
  func insecurity(_ code: CURLcode) -> ObjectError? {
    let said = String(cString: message)
    switch code {
    case CURLE_PEER_FAILED_VERIFICATION:
      let reason = said.replacing("SSL certificate problem: ", with: "").replacing("SSL: ", with: "")
      return .insecure("TLS: cannot verify the certificate of \(host): \(reason)")
    case CURLE_SSL_CACERT_BADFILE:
      let file = certificates ?? "the system's file of trusted certificates"
      return .insecure(
        "TLS: cannot verify the certificate of \(host): cannot read \(file)"
          + (certificates == nil ? " (install the package ca-certificates, or set AWS_CA_BUNDLE)" : ""))
    case CURLE_SSL_CONNECT_ERROR where !said.contains("SYSCALL") && !said.contains("reset"):
      return .insecure("TLS: cannot open a connection to \(host): \(said)")
    default: return nil
    }
  }
}

extension Duration {
  /// The number of milliseconds, at least one, because libcurl takes zero as no limit.
  var milliseconds: Int { max(1, Int(self / .milliseconds(1))) }
}
