/// A verb of the command line.
protocol Command {
  static var name: String { get }
  /// The name that the command had in earlier releases. It works until 2.0, with a warning.
  static var formerName: String? { get }
  /// The operands, as the help shows them: `SOURCE… --library DIR`.
  static var usage: String { get }
  static var summary: String { get }
  static var options: [Option] { get }
  /// Whether the command reports the errors of its arguments itself, together with those that it finds.
  static var reportsAllErrors: Bool { get }

  /// Runs to the end and returns the exit code; throws errors of usage.
  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode
}

/// The exit code of a run, for scripts.
struct ExitCode: Equatable {
  let number: Int32

  /// Everything is done.
  static let success = ExitCode(number: 0)
  /// Some inputs failed; the rest is done.
  static let someFailed = ExitCode(number: 1)
  /// Wrong usage.
  static let usage = ExitCode(number: 2)
  /// An error for which a retry may succeed: disk full, storage unavailable.
  static let temporary = ExitCode(number: 75)
  static let interrupted = ExitCode(number: 130)
}

/// A failure that was reported, in one line.
struct ReportedFailure: Error {
  let exitCode: ExitCode
}

extension Command {
  static var formerName: String? { nil }
  static var reportsAllErrors: Bool { false }
}
