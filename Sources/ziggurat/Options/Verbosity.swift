/// How much a build tells of the images that went well; what failed is told always.
enum Verbosity: Comparable {
  case failures
  /// And one line at the end.
  case summary
  /// And a line for each image that is new or has changed.
  case changes
  case everything

  static let options = [
    Option("summary", help: "one line at the end, and one for each failure: for cron"),
    Option("quiet", help: "say nothing but failures"),
    Option("verbose", help: "also report unchanged images, and files in folders that are no images"),
  ]

  /// Of `--quiet` and `--summary` together the line at the end is left.
  init(_ arguments: Arguments) throws(UsageError) {
    let (sums, isQuiet) = (try arguments.flag("summary"), try arguments.flag("quiet"))
    let isVerbose = try arguments.flag("verbose")
    if isVerbose, sums || isQuiet {
      throw UsageError("--verbose and --\(sums ? "summary" : "quiet") do not go together")
    }
    self = sums ? .summary : isQuiet ? .failures : isVerbose ? .everything : .changes
  }
}
