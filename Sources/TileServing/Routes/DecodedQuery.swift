import ZigguratHTTPMessages

/// The parameters of a query, decoded.
struct DecodedQuery {
  /// The names and values in order, without those that have a malformed escape.
  private(set) var parameters: [(name: String, value: String)] = []
  /// The errors of parameters with a malformed escape.
  private var malformed: [InvalidInput] = []

  /// - Parameter parameters: names and values as sent.
  init(_ parameters: [(name: [UInt8], value: [UInt8])]) {
    for (name, value) in parameters {
      let decoded = (PercentEncoding.decodedString(name), PercentEncoding.decodedString(value))
      if let name = decoded.0, let value = decoded.1 {
        self.parameters.append((name, value))
      } else if malformed.count < InvalidInput.maximum {
        let name = decoded.0 ?? String(decoding: name, as: UTF8.self)
        malformed.append(InvalidInput(parameter: name, "\(name) has a malformed escape"))
      }
    }
  }

  /// Returns the response that names each invalid parameter; `nil` if all are valid.
  /// - Parameter errors: the errors of the decoded parameters. A parameter with a malformed escape is not also
  ///   reported as missing.
  func problem(_ errors: [InvalidInput] = []) -> Response? {
    let others = errors.filter { error in !malformed.contains { $0.place == error.place } }
    // A parameter that is repeated has the same error each time.
    var seen: Set<InvalidInput> = []
    let all = (malformed + others).filter { seen.insert($0).inserted }.prefix(InvalidInput.maximum)
    return all.isEmpty ? nil : .problem("Bad parameter", Array(all))
  }

  /// Parses a whole number of at most 11 digits without leading zeros. Returns `nil` for any other text.
  static func number(_ text: String) -> Int? {
    guard text.utf8.count < 12, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      text == "0" || !text.hasPrefix("0")
    else { return nil }
    return Int(text)
  }
}
