/// One `--name value` or `--flag` that a command takes; each can also be set as `ZIGGURAT_<NAME>`.
struct Option {
  let name: String
  /// What stands for the value in the help, or nil for a flag.
  let value: String?
  let help: String

  init(_ name: String, _ value: String? = nil, help: String) {
    (self.name, self.value, self.help) = (name, value, help)
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
