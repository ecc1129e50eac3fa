import ZigguratText

/// The argument parser of a command: its options and operands, parsed once. The command line takes precedence over the environment, and the
/// environment over the file of `--config`.
struct Arguments {
  private(set) var operands: [String] = []
  /// A line for each given option of an earlier release: under its former name, or without effect.
  private(set) var warnings: [String] = []
  /// Errors, if the command reports them itself.
  private(set) var errors: [UsageError] = []
  private var values: [String: String] = [:]
  /// The spelling of each given option, for messages.
  private var spellings: [String: String] = [:]
  private let options: [Option]
  private let command: any Command.Type

  /// - Parameters:
  ///   - arguments: the arguments after the command's name. `--name value`, `--name=value`; `--` ends the options.
  ///   - environment: the environment of the process.
  /// - Throws: an error about the first argument that cannot be parsed, because the meaning of later ones depends on
  ///   it. Otherwise throws all errors together, unless the command reports them itself.
  init(
    _ arguments: [String], command: any Command.Type, environment: [String: String]
  ) throws(UsageError) {
    try self.init(arguments, command: command, options: command.options, environment: environment)
  }

  init(
    _ arguments: [String], command: any Command.Type, options: [Option], environment: [String: String]
  ) throws(UsageError) {
    self.options = options
    self.command = command
    var operands: [String] = []
    var given: Set<String> = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        operands += rest
        break
      }
      guard argument.hasPrefix("-"), argument != "-" else {
        operands.append(argument)
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let spelling = String(parts[0])
      guard spelling.hasPrefix("--"), let found = Self.find(String(spelling.dropFirst(2)), in: options) else {
        throw Self.unknown(spelling, command, options)
      }
      let option = found.option
      let isFirst = given.insert(option.name).inserted
      let isRepeated = !isFirst && !option.isList
      if isRepeated { errors.append(.repeated(spelling)) }
      if let placeholder = Self.placeholder(of: found) {
        let bare = option.isValueOptional ? "true" : nil
        guard let value = parts.count == 2 ? String(parts[1]) : bare ?? rest.popFirst() else {
          throw .noValue(spelling, placeholder: placeholder)
        }
        if !isRepeated { set(found, value, spelling: spelling, isFirst: isFirst) }
      } else {
        guard parts.count == 1 else { throw .needlessValue(spelling) }
        if !isRepeated { set(found, "true", spelling: spelling, isFirst: isFirst) }
      }
      warn(found, spelling, "--" + option.name)
    }
    self.operands = operands
    addEnvironment(environment, besides: given)
    if let path = values["config"], options.contains(where: { $0.name == "config" }) {
      do throws(UsageError) { addFile(try ConfigFile(path: path)) } catch { errors.append(error) }
    }
    for option in options where given.contains(option.name) {
      guard let other = option.required, values[other] == nil else { continue }
      errors.append(.requires(spelled(option.name), "--" + other))
    }
    if !command.reportsAllErrors, let error = UsageError(errors) { throw error }
  }

  /// An option, and its former name if the argument has that.
  private typealias Found = (option: Option, former: Option.FormerName?)

  private static func find(_ name: String, in options: [Option]) -> Found? {
    for option in options {
      if option.name == name { return (option, nil) }
      if let former = option.former.first(where: { $0.name == name }) { return (option, former) }
    }
    return nil
  }

  /// Returns the placeholder of the option's value under this name; nil if it has no value.
  private static func placeholder(of found: Found) -> String? {
    guard found.former?.flagValue == nil else { return nil }
    return found.former?.values?.keys.sorted().joined(separator: "|") ?? found.option.value
  }

  private mutating func set(_ found: Found, _ value: String, spelling: String, isFirst: Bool) {
    guard found.option.removal == nil else { return }
    var value = value
    if let present = found.former?.flagValue {
      guard let isSet = Self.isSet(value) else {
        errors.append(.invalid(value, for: spelling, expected: "true or false"))
        return
      }
      guard isSet else { return }
      value = present
    }
    if let translations = found.former?.values {
      guard let present = translations[value] else {
        let expected = translations.keys.sorted().joined(separator: " or ")
        errors.append(.invalid(value, for: spelling, expected: expected))
        return
      }
      value = present
    }
    let name = found.option.name
    values[name] = isFirst ? value : values[name, default: ""] + "," + value
    if isFirst { spellings[name] = spelling }
  }

  private mutating func warn(_ found: Found, _ former: String, _ present: String) {
    let line: String
    if let reason = found.option.removal {
      line = "\(former) has no effect any more: \(reason)"
    } else if let name = found.former {
      line = Self.renamed(former, name.flagValue.map { "\(present)=\($0)" } ?? present)
    } else {
      return
    }
    if !warnings.contains(line) { warnings.append(line) }
  }

  /// Returns the line about a name of an earlier release.
  static func renamed(_ former: String, _ present: String) -> String {
    "\(former) is now called \(present) (the old name works until 2.0)"
  }

  private mutating func addEnvironment(_ environment: [String: String], besides given: Set<String>) {
    for option in options {
      var names: [(former: Option.FormerName?, variable: String)] = [(nil, option.environmentName)]
      names += option.former.map { ($0, Option.environmentName($0.name)) }
      guard let (former, spelling) = names.first(where: { environment[$0.variable] != nil }) else { continue }
      warn((option, former), spelling, option.environmentName)
      if !given.contains(option.name), let value = environment[spelling] {
        set((option, former), value, spelling: spelling, isFirst: true)
      }
    }
  }

  /// Options of other commands are ignored, as in the environment: one file serves all commands.
  private mutating func addFile(_ file: ConfigFile) {
    errors += file.errors
    let known = Ziggurat.commands.flatMap { $0.options }.filter {
      $0.name != "config" && (!$0.isHidden || $0.removal != nil)
    }
    var seen: Set<String> = []
    let before = Set(values.keys)
    for setting in file.settings {
      guard Self.find(setting.name, in: known) != nil else {
        let present = known.filter { $0.removal == nil }
        let near = nearest(setting.name, present.map(\.name))
        errors.append(.unknownKey(setting.name, at: setting.place, near: near))
        continue
      }
      guard let found = Self.find(setting.name, in: options) else { continue }
      let name = found.option.name
      let spelling = "\(setting.name) in \(setting.place)"
      // A former flag that is not set does not affect the option that has replaced it.
      if found.former?.flagValue != nil, Self.isSet(setting.value) == false {
        let line = Self.renamed(spelling, name)
        if !warnings.contains(line) { warnings.append(line) }
        continue
      }
      let isFirst = seen.insert(name).inserted
      guard isFirst || found.option.isList else {
        errors.append(.repeated(spelling))
        continue
      }
      warn(found, spelling, name)
      if before.contains(name) { continue }
      set(found, setting.value, spelling: spelling, isFirst: isFirst)
    }
  }

  /// Returns the option as it was given: `--tile-size`, `ZIGGURAT_TILE_SIZE`, or its line in a file.
  func spelled(_ name: String) -> String { spellings[name] ?? "--" + name }

  /// Returns an error about the value of an option that was given.
  func invalid(_ name: String, expected: String) -> UsageError {
    .invalid(values[name] ?? "", for: spelled(name), expected: expected)
  }

  private static func unknown(
    _ spelling: String, _ command: any Command.Type, _ options: [Option]
  ) -> UsageError {
    let name = spelling.drop { $0 == "-" }
    let near = nearest(String(name), options.filter { !$0.isHidden }.map(\.name))
    return .unknown(
      "option", spelling, near: near.map { "--" + $0 }, help: "ziggurat help \(command.name)")
  }
}

/// The values of options.
extension Arguments {
  func string(_ name: String) -> String? { values[name] }

  /// Whether a flag is set. In the environment and in files, `1`, `true` and `yes` set it; `0`, `false`, `no` and an
  /// empty value do not.
  func flag(_ name: String) throws(UsageError) -> Bool {
    guard let isSet = Self.isSet(values[name] ?? "") else { throw invalid(name, expected: "true or false") }
    return isSet
  }

  /// Whether the value sets a flag; nil if it is not a value of flags.
  private static func isSet(_ value: String) -> Bool? {
    switch value.lowercased() {
    case "", "0", "false", "no": false
    case "1", "true", "yes": true
    default: nil
    }
  }

  /// Returns the option's value as parsed by `parse`; nil if the option is not given.
  ///
  /// - Parameter expected: the values that `parse` accepts.
  func value<Value>(
    _ name: String, expected: String, _ parse: (String) -> Value?
  ) throws(UsageError) -> Value? {
    guard let text = values[name] else { return nil }
    guard let value = parse(text) else { throw invalid(name, expected: expected) }
    return value
  }

  func int(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    try value(name, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
      Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// Returns a whole number, or bytes, seconds or pixels if the option has a unit.
  func number(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    let isQuantity = options.contains { $0.name == name && $0.unit != nil }
    return isQuantity ? try quantity(name, in: range) : try int(name, in: range)
  }

  /// Returns bytes, seconds or pixels.
  func quantity(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let unit = options.first(where: { $0.name == name })?.unit else {
      preconditionFailure("--\(name) is no quantity")
    }
    return try value(name, expected: unit.quantity.expectation(range, in: unit)) { text in
      Quantity.value(of: text, in: unit).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// Returns `R,G,B`, each from 0 to 255.
  func colour(_ name: String) throws(UsageError) -> [Int]? {
    try value(name, expected: "R,G,B, each from 0 to 255") { text in
      let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
      let colour = parts.compactMap { $0 }.filter { (0...255).contains($0) }
      return parts.count == 3 && colour.count == 3 ? colour : nil
    }
  }

  func required(_ name: String) throws(UsageError) -> String {
    guard let value = values[name], !value.isEmpty else {
      throw .noOption("--" + name, of: command.name)
    }
    return value
  }

  /// Returns the only operand of the command.
  func onlyOperand(_ noun: String) throws(UsageError) -> String {
    guard let first = operands.first else { throw missing(noun) }
    guard operands.count == 1 else { throw .spareOperand(operands[1], after: noun) }
    return first
  }

  /// Returns an error about an operand that is missing.
  ///
  /// - Parameter usage: the operands; nil for those of the command.
  func missing(_ noun: String, usage: String? = nil) -> UsageError {
    .noOperand(noun, usage: "\(command.name) \(usage ?? command.usage)")
  }
}
