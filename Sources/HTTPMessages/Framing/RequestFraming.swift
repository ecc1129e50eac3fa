/// What a request's headers say of where it ends and to whom it goes, as far as two servers in a row must read it
/// alike. Told header by header, for every request, without a string.
package struct RequestFraming {
  private var hosts = 0
  private var hasBadHost = false
  private var lengths = 0
  private var hasBadLength = false
  private var encodings = 0
  private var hasOtherEncoding = false
  /// Cookies of the session's name.
  package var sessionCookies = 0

  package init() {}

  /// The body comes in chunks.
  package var isChunked: Bool { encodings > 0 }

  package mutating func seeHost(_ value: UnsafeBufferPointer<UInt8>) {
    hosts += 1
    if !FieldSyntax.isHost(value) { hasBadHost = true }
  }

  /// Sees the authority of a target in absolute form, which has neither a user nor a password.
  package mutating func seeAuthority(_ value: UnsafeBufferPointer<UInt8>) {
    if !FieldSyntax.isHost(value) { hasBadHost = true }
  }

  package mutating func seeContentLength(_ value: UnsafeBufferPointer<UInt8>) {
    lengths += 1
    // 2^64 - 1 is the daemon's word for a length that it does not know.
    if ContentLengthFault(value) != nil { hasBadLength = true }
  }

  package mutating func seeTransferEncoding(_ value: UnsafeBufferPointer<UInt8>) {
    encodings += 1
    if !FieldSyntax.isSame(value, "chunked") { hasOtherEncoding = true }
  }

  /// Why the request is refused once all headers are seen; nil where it is not.
  package func fault(isHTTP10: Bool) -> MalformedRequest? {
    if hasBadHost { return .host }
    if hosts == 0, !isHTTP10 { return .noHost }
    if hosts > 1 { return .hosts }
    // Which of them is the server's own nobody can say.
    if sessionCookies > 1 { return .sessionCookies }
    if lengths > 1 { return .lengths }
    if encodings > 1 || (encodings > 0 && lengths > 0) { return .lengthBesideEncoding }
    if hasBadLength { return .lengthOutOfRange }
    // Where such a body ends nobody can tell (RFC 9112, sections 6.1 and 6.3).
    if hasOtherEncoding || (encodings > 0 && isHTTP10) { return .encoding }
    return nil
  }
}

/// Why a Content-Length is none.
package enum ContentLengthFault: Sendable {
  case noNumber, tooLarge

  /// Nil for a number below 2^63.
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
