import HTTPMessages

/// A command's options and operands, parsed once; the command line wins over the environment.
struct Arguments {
  let operands: [String]
  private let values: [String: String]
  private let command: String
  /// Options whose value the environment gave.
  private let fromEnvironment: Set<String>

  /// - Parameters:
  ///   - words: after the command's name. `--name value`, `--name=value`, `--` ends the options.
  ///   - environment: of the process.
  init(
    _ words: [String], command: String, options: [Option], environment: [String: String]
  ) throws(UsageError) {
    var values: [String: String] = [:]
    var operands: [String] = []
    for option in options {
      if let value = environment[option.environmentName] { values[option.name] = value }
    }
    var rest = words[...]
    var given: Set<String> = []
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        break
      }
      guard word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts[0].hasPrefix("--") ? String(parts[0].dropFirst(2)) : ""
      guard let option = options.first(where: { $0.name == name }) else {
        throw Self.unknown(String(parts[0]), command, options)
      }
      let isFirst = given.insert(name).inserted
      guard isFirst || option.isList else { throw UsageError("option '--\(name)' is given twice") }
      if let placeholder = option.value {
        let bare = option.isValueOptional ? "true" : nil
        guard let value = parts.count == 2 ? String(parts[1]) : bare ?? rest.popFirst() else {
          throw UsageError("option '--\(name)' needs a value: --\(name) \(placeholder)")
        }
        values[name] = isFirst ? value : values[name, default: ""] + "," + value
      } else {
        guard parts.count == 1 else { throw UsageError("option '--\(name)' takes no value") }
        values[name] = "true"
      }
    }
    for option in options where given.contains(option.name) {
      guard let other = option.needs, values[other] == nil else { continue }
      throw UsageError("--\(option.name) has no meaning without --\(other)")
    }
    self.values = values
    self.operands = operands
    self.command = command
    fromEnvironment = Set(values.keys).subtracting(given)
  }

  func string(_ name: String) -> String? { values[name] }

  /// A flag; in the environment `1`, `true`, `yes` set it and `0`, `false`, `no` or nothing do not.
  func flag(_ name: String) throws(UsageError) -> Bool {
    switch values[name]?.lowercased() {
    case nil, "", "0", "false", "no": return false
    case "1", "true", "yes": return true
    case let other?: throw UsageError("\(spelled(name)) is '\(other)'; it takes true or false")
    }
  }

  func int(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = values[name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw UsageError(
        "\(spelled(name)) is '\(text)'; it takes a whole number from \(range.lowerBound) to \(range.upperBound)"
      )
    }
    return number
  }

  /// `red,green,blue`, each 0 to 255.
  func colour(_ name: String) throws(UsageError) -> [Int]? {
    guard let text = values[name] else { return nil }
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
    let colour = parts.compactMap { $0 }.filter { (0...255).contains($0) }
    guard parts.count == 3, colour.count == 3 else {
      throw UsageError("\(spelled(name)) is '\(text)'; it takes red,green,blue, each 0 to 255")
    }
    return colour
  }

  /// The option as it was given: `--tile-size`, or `ZIGGURAT_TILE_SIZE` from the environment.
  func spelled(_ name: String) -> String {
    fromEnvironment.contains(name) ? Option(name, help: "").environmentName : "--" + name
  }

  func required(_ name: String) throws(UsageError) -> String {
    guard let value = values[name], !value.isEmpty else {
      throw UsageError("option '--\(name)' is missing; see 'ziggurat help \(command)'")
    }
    return value
  }

  /// The one operand that the command takes.
  func onlyOperand(_ what: String) throws(UsageError) -> String {
    guard let first = operands.first else {
      throw UsageError("\(what) is missing; see 'ziggurat help \(command)'")
    }
    guard operands.count == 1 else {
      throw UsageError("unexpected '\(operands[1])' behind \(what)")
    }
    return first
  }

  private static func unknown(_ word: String, _ command: String, _ options: [Option]) -> UsageError {
    let name = word.drop { $0 == "-" }
    if let near = nearest(String(name), options.map(\.name)) {
      return UsageError("unknown option '\(word)'; did you mean '--\(near)'?")
    }
    return UsageError("unknown option '\(word)'; see 'ziggurat help \(command)'")
  }
}
