/// The preconditions (ETag conditions such as If-None-Match) and the range of a GET or HEAD (RFC 9110, sections 13 and
/// 14), parsed in place.
///
/// No representation has a date, so conditions on dates are ignored (sections 13.1.3 to 13.1.5).
package struct Conditions {
  /// Whether the method is GET: ranges are ignored for other methods (section 14.2).
  package var isGet: Bool
  /// Each header's value, nil if the request has none; for lists all lines, separated by commas.
  package var ifMatch: UnsafeBufferPointer<UInt8>?
  package var ifNoneMatch: UnsafeBufferPointer<UInt8>?
  package var ifRange: UnsafeBufferPointer<UInt8>?
  package var range: UnsafeBufferPointer<UInt8>?

  package init(isGet: Bool) { self.isGet = isGet }

  /// The result of the conditions: the answer to send instead of 200.
  package enum Outcome: Hashable, Sendable {
    /// No change: the whole representation.
    case whole
    /// 206.
    case part(Range<Int>)
    /// 304.
    case notModified
    /// 412.
    case preconditionFailed
    /// 416.
    case unsatisfiable
  }

  /// Evaluates the conditions in the order of section 13.2.2, for an answer that is 200 without them.
  /// - Parameters:
  ///   - tag: the representation's strong entity tag with its quotes; nil if it has none.
  ///   - length: the representation's length in bytes; nil if it has no parts, or is not made yet.
  package func outcome(tag: UnsafeBufferPointer<UInt8>?, length: Int?) -> Outcome {
    if let ifMatch, !EntityTagList(ifMatch).names(tag, .strong) { return .preconditionFailed }
    if let ifNoneMatch, EntityTagList(ifNoneMatch).names(tag, .weak) { return .notModified }
    guard isGet, let range, let length, isCurrent(tag) else { return .whole }
    return switch ByteRange(range, of: length) {
    case .whole: .whole
    case .part(let part): .part(part)
    case .unsatisfiable: .unsatisfiable
    }
  }

  /// Whether If-Range is missing or equals the tag (section 13.1.5); otherwise the range is ignored.
  private func isCurrent(_ tag: UnsafeBufferPointer<UInt8>?) -> Bool {
    guard let ifRange else { return true }
    guard let tag else { return false }
    return ifRange.elementsEqual(tag)
  }
}
