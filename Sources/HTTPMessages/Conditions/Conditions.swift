/// What a GET or HEAD makes its answer depend on: preconditions and a range (RFC 9110, sections 13 and 14), read in
/// place.
///
/// No representation here has a date, so conditions on dates count for nothing (sections 13.1.3 to 13.1.5).
package struct Conditions {
  /// Whether the method is GET: ranges count for no other (section 14.2).
  package var isGet: Bool
  /// Each header's value, nil where the request has none; of lists all lines, with commas between.
  package var ifMatch: UnsafeBufferPointer<UInt8>?
  package var ifNoneMatch: UnsafeBufferPointer<UInt8>?
  package var ifRange: UnsafeBufferPointer<UInt8>?
  package var range: UnsafeBufferPointer<UInt8>?

  package init(isGet: Bool) { self.isGet = isGet }

  /// What is to be answered instead of 200.
  package enum Outcome: Hashable, Sendable {
    /// Nothing else.
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

  /// Decides in the order of section 13.2.2, of an answer that is 200 without conditions.
  /// - Parameters:
  ///   - tag: the representation's strong entity tag with its quotes; nil where it has none.
  ///   - length: the representation's, in bytes; nil where it has no parts, or is not made yet.
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

  /// Whether If-Range names the tag (section 13.1.5): anything else makes the range count for nothing.
  private func isCurrent(_ tag: UnsafeBufferPointer<UInt8>?) -> Bool {
    guard let ifRange else { return true }
    guard let tag else { return false }
    return ifRange.elementsEqual(tag)
  }
}
