/// A copy of a request's conditions, which outlives the request's headers.
package struct OwnedConditions: Sendable {
  private let isGet: Bool
  /// The headers' values, one behind the other; nearly always empty.
  private var bytes: [UInt8] = []
  private var ifMatch: Range<Int>?
  private var ifNoneMatch: Range<Int>?
  private var ifRange: Range<Int>?
  private var range: Range<Int>?

  /// - Parameter header: returns a header's value by its name; for a list all lines, separated by commas.
  package init(isGet: Bool, _ header: (String) -> String?) {
    self.isGet = isGet
    ifMatch = keep(header("If-Match"))
    ifNoneMatch = keep(header("If-None-Match"))
    guard isGet else { return }
    range = keep(header("Range"))
    if range != nil { ifRange = keep(header("If-Range")) }
  }

  private mutating func keep(_ value: String?) -> Range<Int>? {
    guard let value else { return nil }
    let start = bytes.count
    bytes += value.utf8
    return start..<bytes.count
  }

  /// Evaluates the conditions like `Conditions.outcome`.
  package func outcome(tag: String?, length: Int?) -> Conditions.Outcome {
    bytes.withUnsafeBufferPointer { bytes in
      func view(_ range: Range<Int>?) -> UnsafeBufferPointer<UInt8>? {
        range.map { UnsafeBufferPointer(rebasing: bytes[$0]) }
      }
      var conditions = Conditions(isGet: isGet)
      conditions.ifMatch = view(ifMatch)
      conditions.ifNoneMatch = view(ifNoneMatch)
      conditions.ifRange = view(ifRange)
      conditions.range = view(range)
      guard var tag else { return conditions.outcome(tag: nil, length: length) }
      return tag.withUTF8 { conditions.outcome(tag: $0, length: length) }
    }
  }
}
