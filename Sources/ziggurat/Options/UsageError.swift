/// The messages about wrong usage. `{0}`, `{1}` and `{2}` stand for the variable parts.
enum UsageMessage: String, CaseIterable {
  case invalidValue = "invalid value '{0}' for {1} (expected {2})"
  case conflict = "{0} cannot be used with {1}"
  case requirement = "{0} requires {1}"
  case repeated = "{0} cannot be given twice"
  case noValue = "{0} requires a value: {0} {1}"
  case needlessValue = "{0} does not take a value"
  case noOption = "missing option {0} (see 'ziggurat help {1}')"
  case noOperand = "missing {0} (usage: ziggurat {1})"
  case spareOperand = "unexpected argument '{0}' after the {1}"
  case unknown = "unknown {0} '{1}' (see '{2}')"
  case misspelt = "unknown {0} '{1}'; did you mean '{2}'?"
  case unknownKey = "unknown option '{0}' in {1}"
  case misspeltKey = "unknown option '{0}' in {1}; did you mean '{2}'?"
  case invalidLine = "cannot read {0}: expected NAME = VALUE"
  case failure = "cannot {0}: {1}"
  case outside = "{0}: {1}"

  /// Returns the message with its parts.
  func text(_ parts: [String]) -> String {
    // Parts may contain braces themselves.
    var text = ""
    var rest = rawValue[...]
    while let brace = rest.firstIndex(of: "{") {
      text += rest[..<brace]
      rest = rest[rest.index(after: brace)...]
      text += parts[rest.first!.wholeNumberValue!]
      rest = rest.dropFirst(2)
    }
    return text + rest
  }
}

/// Errors on the command line, in the environment or in a file of options: one line for each. Exit code 2.
struct UsageError: Error, Equatable, CustomStringConvertible {
  let messages: [String]

  var description: String { messages.joined(separator: "\n") }

  private init(_ message: UsageMessage, _ parts: String...) { messages = [message.text(parts)] }

  /// Creates an error with the different messages of others; nil if the list is empty.
  init?(_ errors: [UsageError]) {
    var messages: [String] = []
    for message in errors.flatMap(\.messages) where !messages.contains(message) { messages.append(message) }
    guard !messages.isEmpty else { return nil }
    self.messages = messages
  }

  /// - Parameters:
  ///   - name: the option as it was given, see ``Arguments/spelled(_:)``.
  ///   - expected: the valid values.
  static func invalid(_ value: String, for name: String, expected: String) -> UsageError {
    UsageError(.invalidValue, value, name, expected)
  }

  /// Returns an error about two options, or an option and an operand, that exclude each other.
  static func conflict(_ first: String, _ second: String) -> UsageError {
    UsageError(.conflict, first, second)
  }

  static func requires(_ first: String, _ second: String) -> UsageError {
    UsageError(.requirement, first, second)
  }

  static func repeated(_ name: String) -> UsageError { UsageError(.repeated, name) }

  static func noValue(_ name: String, placeholder: String) -> UsageError {
    UsageError(.noValue, name, placeholder)
  }

  static func needlessValue(_ name: String) -> UsageError { UsageError(.needlessValue, name) }

  static func noOption(_ name: String, of command: String) -> UsageError {
    UsageError(.noOption, name, command)
  }

  /// - Parameter usage: the command and its operands.
  static func noOperand(_ noun: String, usage: String) -> UsageError { UsageError(.noOperand, noun, usage) }

  static func spareOperand(_ operand: String, after noun: String) -> UsageError {
    UsageError(.spareOperand, operand, noun)
  }

  /// Returns an error about an unknown word, with the similar known one, or else with the command that lists known
  /// ones.
  static func unknown(_ kind: String, _ word: String, near: String?, help: String) -> UsageError {
    near.map { UsageError(.misspelt, kind, word, $0) } ?? UsageError(.unknown, kind, word, help)
  }

  /// - Parameter place: the line and the file.
  static func unknownKey(_ key: String, at place: String, near: String?) -> UsageError {
    near.map { UsageError(.misspeltKey, key, place, $0) } ?? UsageError(.unknownKey, key, place)
  }

  static func invalidLine(at place: String) -> UsageError { UsageError(.invalidLine, place) }

  /// - Parameter action: a verb and its object.
  static func cannot(_ action: String, _ cause: String) -> UsageError { UsageError(.failure, action, cause) }

  /// Returns an error that another layer has described, after the option or operand that caused it.
  static func outside(_ subject: String, _ description: String) -> UsageError {
    UsageError(.outside, subject, description)
  }
}
