import Glibc
import TileStorage
import ZigguratCCurl

/// One attempt to read a part of an object: a handle, and the response so far. Only one thread uses it.
final class RangeTransfer {
  let call: RangeCall
  let handle: EasyHandle
  private var head = ResponseHead()
  /// The announced content, once the head is complete.
  private var expected: Result<(version: ObjectVersion, count: Int), ObjectError>?
  private var memory: UnsafeMutableRawBufferPointer?
  private var filled = 0
  private var dropped = 0
  /// The URL of the request.
  private var url = ""
  /// The request as libcurl signed and sent it.
  private(set) var signed: SignedRead?
  /// Whether the request was sent with the signature of an earlier one.
  private(set) var isSignedBefore = false
  /// The maximum size of an error's body, which is read to its end so that the connection can be reused.
  private static let maxRefusalLength = 64 << 10
  /// The digest of the empty body of a GET.
  static let emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  init(_ call: RangeCall, _ handle: EasyHandle) {
    self.call = call
    self.handle = handle
  }

  deinit { free(memory?.baseAddress) }

  /// Prepares the handle for the transfer. The handle does not retain this object.
  /// - Parameter known: the signed request of an earlier read of the same version.
  func prepare(
    _ settings: ObjectSettings, _ bucket: BucketName, _ known: SignedRead?, connecting: Duration,
    within time: Duration
  ) {
    let question = call.question
    url = known?.url ?? settings.url(bucket, question.key)
    isSignedBefore = known != nil
    handle.prepare(settings, url: url, payload: Self.emptyDigest, signed: known)
    if let version = question.version {
      handle.add(header: "If-Match", version.etag)
      if known == nil, settings.credentials != nil { watchSigning() }
    }
    handle.sealHeaders()
    handle.set(CURLOPT_RANGE, question.range)
    handle.set(CURLOPT_CONNECTTIMEOUT_MS, min(connecting, time).milliseconds)
    handle.set(CURLOPT_TIMEOUT_MS, time.milliseconds)
    handle.set(CURLOPT_BUFFERSIZE, 64 << 10)
    let own = Unmanaged.passUnretained(self).toOpaque()
    for option in [CURLOPT_PRIVATE, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA] {
      handle.set(pointer: option, own)
    }
    handle.set(callback: CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
      let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
      return RangeTransfer.at(context).take(headerLine: bytes) ? bytes.count : 0
    }
    handle.set(callback: CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
      let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
      return RangeTransfer.at(context).take(body: bytes) ? bytes.count : 0
    }
  }

  /// Watches the signed request. libcurl reports sent headers only in its verbose mode.
  private func watchSigning() {
    handle.set(CURLOPT_VERBOSE, 1)
    handle.set(pointer: CURLOPT_DEBUGDATA, Unmanaged.passUnretained(self).toOpaque())
    ziggurat_curl_set_debug(handle.raw) { _, kind, bytes, count, context in
      if kind == CURLINFO_HEADER_OUT {
        let transfer = RangeTransfer.at(context)
        transfer.signed = SignedRead(
          url: transfer.url, sent: UnsafeRawBufferPointer(start: bytes, count: count))
      }
      return 0
    }
  }

  static func at(_ context: UnsafeMutableRawPointer?) -> RangeTransfer {
    Unmanaged<RangeTransfer>.fromOpaque(context!).takeUnretainedValue()
  }

  /// Takes a header line. Returns false to end the transfer.
  private func take(headerLine line: UnsafeRawBufferPointer) -> Bool {
    let isEnd = line.allSatisfy { $0 == 0x0d || $0 == 0x0a }
    guard isEnd else { return expected != nil || head.take(line) }
    guard expected == nil, head.status >= 200 else { return true }
    let expected = call.question.expected(head)
    self.expected = expected
    switch expected {
    case .failure(let error):
      // An unexpected body may be as long as the archive.
      return head.status >= 300 && error != .damaged
    case .success(let (_, count)):
      guard let start = malloc(count) else { return false }
      memory = UnsafeMutableRawBufferPointer(start: start, count: count)
      return true
    }
  }

  private func take(body bytes: UnsafeRawBufferPointer) -> Bool {
    guard let memory else {
      dropped += bytes.count
      return dropped <= Self.maxRefusalLength
    }
    guard bytes.count <= memory.count - filled else { return false }
    if !bytes.isEmpty {
      memory.baseAddress!.advanced(by: filled).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
    }
    filled += bytes.count
    return true
  }

  /// Returns the result. Call it once.
  func result(_ code: CURLcode) -> Result<ObjectTail, ObjectError> {
    switch expected {
    case .failure(let error)?: return .failure(error)
    case .success(let (version, count))? where code == CURLE_OK && filled == count:
      guard let memory else { return .failure(.cut) }
      self.memory = nil
      return .success(ObjectTail(version: version, bytes: ObjectBytes(owning: memory)))
    case .success?: return .failure(code == CURLE_OPERATION_TIMEDOUT ? .unavailable : .cut)
    case nil: return .failure(Self.error(code, handle))
    }
  }

  /// Returns the error of a transfer that ended before its head was complete.
  static func error(_ code: CURLcode, _ handle: EasyHandle) -> ObjectError {
    if let insecurity = handle.insecurity(code) { return insecurity }
    return switch code {
    case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE: .cut
    case CURLE_OK, CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_WRITE_ERROR,
      CURLE_BAD_CONTENT_ENCODING:
      .damaged
    default: .unavailable
    }
  }
}

/// A read of a range, with all its attempts.
final class RangeCall: Sendable {
  let question: RangeRequest
  let deadline: ContinuousClock.Instant
  /// Counted from 1.
  let attempt: Int
  let done: @Sendable (Result<ObjectTail, ObjectError>) -> Void

  init(
    _ question: RangeRequest, by deadline: ContinuousClock.Instant, attempt: Int = 1,
    _ done: @escaping @Sendable (Result<ObjectTail, ObjectError>) -> Void
  ) {
    self.question = question
    self.deadline = deadline
    self.attempt = attempt
    self.done = done
  }

  var next: RangeCall { RangeCall(question, by: deadline, attempt: attempt + 1, done) }
}
