/// The end of a request and its target host according to its headers, as far as two servers in a row must agree on
/// them. Collected header by header, for every request, without a string.
package struct RequestFraming {
  private var hosts = 0
  private var hasBadHost = false
  private var lengths = 0
  private var hasBadLength = false
  private var encodings = 0
  private var hasOtherEncoding = false
  /// The number of cookies with the session's name.
  package var sessionCookies = 0

  package init() {}

  /// Whether the body is sent in chunks.
  package var isChunked: Bool { encodings > 0 }

  package mutating func seeHost(_ value: UnsafeBufferPointer<UInt8>) {
    hosts += 1
    if !FieldSyntax.isHost(value) { hasBadHost = true }
  }

  /// Checks the authority of a target in absolute form, which must have neither a user nor a password.
  package mutating func seeAuthority(_ value: UnsafeBufferPointer<UInt8>) {
    if !FieldSyntax.isHost(value) { hasBadHost = true }
  }

  package mutating func seeContentLength(_ value: UnsafeBufferPointer<UInt8>) {
    lengths += 1
    // In libmicrohttpd, 2^64 - 1 is an unknown length.
    if ContentLengthError(value) != nil { hasBadLength = true }
  }

  package mutating func seeTransferEncoding(_ value: UnsafeBufferPointer<UInt8>) {
    encodings += 1
    if !FieldSyntax.isSame(value, "chunked") { hasOtherEncoding = true }
  }

  /// Returns why the request is refused after all headers were seen; nil if it is accepted.
  package func error(isHTTP10: Bool) -> MalformedRequest? {
    if hasBadHost { return .host }
    if hosts == 0, !isHTTP10 { return .noHost }
    if hosts > 1 { return .hosts }
    // The server's own one cannot be identified.
    if sessionCookies > 1 { return .sessionCookies }
    if lengths > 1 { return .lengths }
    if encodings > 1 || (encodings > 0 && lengths > 0) { return .lengthBesideEncoding }
    if hasBadLength { return .lengthOutOfRange }
    // The end of such a body is unknown (RFC 9112, sections 6.1 and 6.3).
    if hasOtherEncoding || (encodings > 0 && isHTTP10) { return .encoding }
    return nil
  }
}

/// The reason why a Content-Length is invalid.
package enum ContentLengthError: Sendable {
  case noNumber, tooLarge

  /// Returns the error of a value; nil for a number below 2^63.
  package init?(_ text: UnsafeBufferPointer<UInt8>) {
    guard !text.isEmpty, text.allSatisfy({ (0x30...0x39).contains($0) }) else {
      self = .noNumber
      return
    }
    var value = 0
    for digit in text {
      let (tens, isOver) = value.multipliedReportingOverflow(by: 10)
      let (sum, isFull) = tens.addingReportingOverflow(Int(digit - 0x30))
      guard !isOver, !isFull else {
        self = .tooLarge
        return
      }
      value = sum
    }
    return nil
  }
}
