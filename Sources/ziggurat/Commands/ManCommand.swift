/// The manual pages that packages install in `man1`; without a package, use `ziggurat man build | man -l -`.
enum ManCommand: Command {
  static let name = "man"
  static let usage = "[COMMAND]"
  static let summary = "Print a manual page of a command, or of all, for `man -l -`."
  static let options: [Option] = []

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    guard let name = arguments.operands.first else {
      Output.result(ManualPage.overview())
      return .success
    }
    Output.result(ManualPage.page(of: try Ziggurat.command(name)))
    return .success
  }
}

/// The completion script that packages install for shells. Without a package, use
/// `source <(ziggurat completions bash)`.
enum CompletionsCommand: Command {
  static let name = "completions"
  static let usage = "bash|zsh|fish"
  static let summary = "Print a script by which a shell completes commands and options."
  static let options: [Option] = []

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    let name = try arguments.onlyOperand("shell")
    guard let shell = Completions(rawValue: name) else {
      throw .invalid(name, for: "the shell", expected: "bash, zsh or fish")
    }
    Output.result(shell.script)
    return .success
  }
}
