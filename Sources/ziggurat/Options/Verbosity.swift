/// The detail of reports about images that succeeded. Failures are always reported.
enum Verbosity: Comparable {
  case failures
  /// Failures, and one line at the end.
  case summary
  /// Failures, one line at the end, and a line for each new or changed image.
  case changes
  case everything

  static let options = [
    Option("summary", isCommon: true, help: "Report one line at the end, and one for each failure: for cron"),
    Option("quiet", isCommon: true, help: "Report failures only"),
    Option("verbose", help: "Also report unchanged images, and files in folders that are not images"),
  ].grouped(.output)

  /// Reads the options. With `--quiet` and `--summary` together, the line at the end is reported.
  init(_ arguments: Arguments) throws(UsageError) {
    let (sums, isQuiet) = (try arguments.flag("summary"), try arguments.flag("quiet"))
    let isVerbose = try arguments.flag("verbose")
    if isVerbose, sums || isQuiet { throw .conflict("--verbose", sums ? "--summary" : "--quiet") }
    self = sums ? .summary : isQuiet ? .failures : isVerbose ? .everything : .changes
  }
}
