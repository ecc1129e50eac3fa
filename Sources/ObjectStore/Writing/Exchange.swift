import TileStorage
import ZigguratCCurl

/// One request and its response, on the calling thread.
final class Exchange {
  enum Method: String {
    case get = "GET"
    case head = "HEAD"
    case put = "PUT"
    case post = "POST"
    case delete = "DELETE"
  }

  private(set) var head = ResponseHead()
  private(set) var answer: [UInt8] = []
  private let body: UploadBody?
  private var pace: TransferPace
  /// The maximum size of a response; a page of a list is the longest.
  private static let maxAnswerSize = 8 << 20

  private init(_ body: UploadBody?, _ limits: RequestLimits) {
    self.body = body
    pace = TransferPace(limits, at: .now)
  }

  /// Sends a request, and returns the response.
  /// - Parameters:
  ///   - query: the encoded parameters in the order of their names.
  ///   - digest: the digest of the body, 32 bytes; nil without a body.
  static func run(
    _ method: Method, _ settings: ObjectSettings, _ bucket: BucketName, key: String, query: String = "",
    body: UploadBody? = nil, digest: [UInt8]? = nil, limits: RequestLimits
  ) throws(ObjectError) -> Exchange {
    guard let handle = EasyHandle() else { throw .unavailable }
    body?.rewind()
    let payload = digest.map(SHA256.hexadecimal) ?? RangeTransfer.emptyDigest
    let url = settings.url(bucket, key) + (query.isEmpty ? "" : "?\(query)")
    handle.prepare(settings, url: url, payload: payload)
    handle.sealHeaders()
    let exchange = Exchange(body, limits)
    let code = exchange.perform(method, handle, limits)
    let error = exchange.head.error
    // A store may refuse a request before it has read all of it.
    if let error, exchange.head.status >= 300 { throw error }
    guard code == CURLE_OK else { throw RangeTransfer.error(code, handle) }
    if let error { throw error }
    return exchange
  }

  private func perform(_ method: Method, _ handle: EasyHandle, _ limits: RequestLimits) -> CURLcode {
    handle.set(CURLOPT_CONNECTTIMEOUT_MS, min(limits.connecting, limits.silence).milliseconds)
    handle.set(CURLOPT_TIMEOUT_MS, limits.whole(sending: body?.count ?? 0).milliseconds)
    handle.set(CURLOPT_NOPROGRESS, 0)
    handle.set(pointer: CURLOPT_XFERINFODATA, Unmanaged.passUnretained(self).toOpaque())
    ziggurat_curl_set_progress(handle.raw) { context, _, received, _, sent in
      // Anything but zero ends the transfer.
      Exchange.at(context).pace.take(sent: Int(sent), received: Int(received), at: .now) ? 0 : 1
    }
    let own = Unmanaged.passUnretained(self).toOpaque()
    for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA] {
      handle.set(pointer: option, own)
    }
    handle.set(callback: CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
      let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
      return Exchange.at(context).head.take(line) ? line.count : 0
    }
    handle.set(callback: CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
      Exchange.at(context).take(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
    handle.set(callback: CURLOPT_READFUNCTION) { bytes, size, count, context in
      let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
      return Exchange.at(context).body?.next(into: buffer) ?? Int(CURL_READFUNC_ABORT)
    }
    if let body {
      handle.set(CURLOPT_UPLOAD, 1)
      handle.set(size: CURLOPT_INFILESIZE_LARGE, body.count)
    }
    if method == .head { handle.set(CURLOPT_NOBODY, 1) }
    handle.set(CURLOPT_CUSTOMREQUEST, method.rawValue)
    return curl_easy_perform(handle.raw)
  }

  private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard answer.count + bytes.count <= Self.maxAnswerSize else { return 0 }
    answer += bytes
    return bytes.count
  }

  private static func at(_ context: UnsafeMutableRawPointer?) -> Exchange {
    Unmanaged<Exchange>.fromOpaque(context!).takeUnretainedValue()
  }
}
