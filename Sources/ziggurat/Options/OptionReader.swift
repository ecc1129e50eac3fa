/// A reader of options that collects all errors, where ``Arguments`` throws the first one.
struct OptionReader {
  let arguments: Arguments
  private(set) var errors: [UsageError]

  init(_ arguments: Arguments) {
    self.arguments = arguments
    errors = arguments.errors
  }

  mutating func add(_ errors: [UsageError]) { self.errors += errors }

  /// Returns the result of `read`; nil if it throws, and its error is collected.
  mutating func attempt<Value>(_ read: (Arguments) throws(UsageError) -> Value?) -> Value? {
    do throws(UsageError) { return try read(arguments) } catch {
      errors.append(error)
      return nil
    }
  }

  func string(_ name: String) -> String? { arguments.string(name) }

  mutating func flag(_ name: String) -> Bool {
    attempt { given throws(UsageError) in try given.flag(name) } ?? false
  }

  /// Sets `value` to a whole number, or to bytes, seconds or pixels, if the option is given.
  mutating func set(_ value: inout Int, to name: String, in range: ClosedRange<Int>) {
    value = attempt { given throws(UsageError) in try given.number(name, in: range) } ?? value
  }

  /// Returns the option's value as parsed by `parse`; nil if it is not given or invalid.
  ///
  /// - Parameter expected: the values that `parse` accepts.
  mutating func value<Value>(_ name: String, expected: String, _ parse: (String) -> Value?) -> Value? {
    attempt { given throws(UsageError) in try given.value(name, expected: expected, parse) }
  }

  /// Returns the parts of a list separated by commas, none of them empty; nil if the option is not given or invalid.
  ///
  /// - Parameter parse: returns the meaning of one part; nil if it is invalid.
  mutating func list<Value>(_ name: String, expected: String, _ parse: (String) -> Value?) -> [Value]? {
    value(name, expected: expected) { text in
      let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      let values = parts.compactMap { $0.isEmpty ? nil : parse($0) }
      return values.count == parts.count ? values : nil
    }
  }
}
