/// A verb of the command line.
protocol Command {
  static var name: String { get }
  /// The operands, as the help shows them: `SOURCE… --library DIR`.
  static var usage: String { get }
  static var summary: String { get }
  static var options: [Option] { get }

  /// Runs to the end and gives the exit code; wrong usage is thrown.
  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode
}

/// How a run ended, for scripts.
struct ExitCode: Equatable {
  let number: Int32

  /// All done.
  static let success = ExitCode(number: 0)
  /// Some inputs failed; the rest is done.
  static let someFailed = ExitCode(number: 1)
  /// Wrong usage.
  static let usage = ExitCode(number: 2)
  /// A fault that a retry may mend: disk full, storage away.
  static let temporary = ExitCode(number: 75)
  static let interrupted = ExitCode(number: 130)
}

extension Command {
  static var help: String {
    var text = "usage: ziggurat \(name) \(usage)\n\n\(summary)\n"
    if options.isEmpty { return text }
    text += "\noptions:\n"
    let heads = options.map(\.head)
    let width = (heads.map(\.count).max() ?? 0) + 2
    for (head, option) in zip(heads, options) {
      text += "  " + head + String(repeating: " ", count: width - head.count) + option.help + "\n"
    }
    return text + "\nEvery option can also be set in the environment, as ZIGGURAT_<OPTION>.\n"
  }
}
