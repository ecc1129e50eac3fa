/// One version of an object in a store. Its bytes never change: a change of the object creates another version.
package struct ObjectVersion: Hashable, Sendable {
  /// The key in the bucket.
  package let key: String
  /// The entity tag between its quotation marks, as the store writes it.
  package let etag: String
  /// The object's size in bytes.
  package let byteCount: Int

  package init(key: String, etag: String, byteCount: Int) {
    self.key = key
    self.etag = etag
    self.byteCount = byteCount
  }
}

/// The reason why an object, or a part of it, could not be read. Wrong bytes from a store are never returned.
package enum ObjectError: Error, Hashable, Sendable {
  /// The store has no object of that key.
  case missing
  /// The object under that key is another version than the requested one.
  case otherVersion
  /// The connection ended, or fewer or more bytes arrived than were requested.
  case cut
  /// The response does not match the request, or its bytes are not those that were written.
  case damaged
  /// The store refused with this status: credentials, rights, or an unsupported request.
  case refused(Int)
  /// The store cannot be reached, or does not respond in time.
  case unavailable
  /// TLS does not protect the connection: the certificate cannot be verified, or there are no trusted certificates.
  /// The text is the reason.
  case insecure(String)
  /// No URL can name the object, or no header can contain its entity tag. The store is not asked.
  case invalidRequest
}

extension ObjectError: CustomStringConvertible {
  /// The reason in text, which contains no key and no host.
  package var description: String {
    switch self {
    case .missing: "the store has no such object"
    case .otherVersion: "the object was replaced by another version"
    case .cut: "the answer was cut short"
    case .damaged: "the answer is not what was asked for"
    case .refused(let status): "the store refuses it with status \(status)"
    case .unavailable: "the store cannot be reached, or does not answer in time"
    case .insecure(let reason): reason
    case .invalidRequest: "its key or entity tag cannot be sent in a request"
    }
  }
}
