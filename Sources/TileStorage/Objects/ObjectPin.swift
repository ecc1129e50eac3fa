/// One version of an object in a store, which never changes under its key: another version is another pin.
package struct ObjectPin: Hashable, Sendable {
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

/// Why an object, or a part of it, was not had. What a store answered wrongly is never given to anybody.
package enum ObjectFault: Error, Hashable, Sendable {
  /// There is no object of that key.
  case missing
  /// The object under that key is not the one that was pinned.
  case otherVersion
  /// The connection ended, or fewer or more bytes came than were asked for.
  case cut
  /// The answer is not what was asked for, or its bytes are not those that were written.
  case damaged
  /// The store will not, by that status: credentials, rights, a request that it does not take.
  case refused(Int)
  /// The store cannot be reached, or cannot answer in time; it may be asked again after so long.
  case unavailable(Duration)
  /// TLS does not protect the connection: the certificate cannot be verified, or there are no trusted certificates.
  /// The text is the reason.
  case insecure(String)
  /// No URL can name the object, or its entity tag fits into no header: the store is not asked.
  case unaskable
}

extension ObjectFault: CustomStringConvertible {
  /// The reason in words, which name no key and no host.
  package var description: String {
    switch self {
    case .missing: "the store has no such object"
    case .otherVersion: "the object was replaced by another version"
    case .cut: "the answer was cut short"
    case .damaged: "the answer is not what was asked for"
    case .refused(let status): "the store refuses it with status \(status)"
    case .unavailable: "the store cannot be reached, or does not answer in time"
    case .insecure(let reason): reason
    case .unaskable: "its key or entity tag cannot be sent in a request"
    }
  }
}
