/// One `--name value` or `--flag` that a command takes; each can also be set as `ZIGGURAT_<NAME>`.
struct Option {
  let name: String
  /// What stands for the value in the help, or nil for a flag.
  let value: String?
  let help: String
  /// Whether it may be given several times, which is the same as once with commas between.
  let isList: Bool
  /// Whether it is a flag that may be given a value, as `--flag=value`.
  let isValueOptional: Bool
  /// The option without which this one has no meaning; given alone on the command line it is a mistake.
  let needs: String?

  init(_ name: String, _ value: String? = nil, isList: Bool = false, needs: String? = nil, help: String) {
    (self.name, self.value, self.help, self.isList) = (name, value, help, isList)
    (self.needs, isValueOptional) = (needs, false)
  }

  init(_ name: String, optional value: String, help: String) {
    (self.name, self.value, self.help, isList, isValueOptional) = (name, value, help, false, true)
    needs = nil
  }

  /// As the help shows it.
  var head: String {
    guard let value else { return "--\(name)" }
    return isValueOptional ? "--\(name) [=\(value)]" : "--\(name) \(value)"
  }

  /// `tile-size` is `ZIGGURAT_TILE_SIZE` in the environment.
  var environmentName: String {
    "ZIGGURAT_" + name.uppercased().replacing("-", with: "_")
  }
}

/// A mistake on the command line: one line that says what is wrong and how to mend it. Exit code 2.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
