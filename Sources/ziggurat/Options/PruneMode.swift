/// How far a build may go in removing what is in its sources no more.
enum PruneMode {
  case nothing
  /// What looks like an accident is told and left undone.
  case careful
  case all

  static let options = [
    Option(
      "prune", optional: "all",
      help: "move what came from these sources and is gone from them to the trash; all: also much at once"),
    Option(
      "keep-deleted", "HOURS", needs: "prune",
      help: "with --prune: empty the trash of what went longer ago (default: never)"),
  ]

  init(_ arguments: Arguments) throws(UsageError) {
    if arguments.string("prune") == "all" {
      self = .all
      return
    }
    do throws(UsageError) { self = try arguments.flag("prune") ? .careful : .nothing } catch {
      throw UsageError(
        "\(arguments.spelled("prune")) is '\(arguments.string("prune") ?? "")'; it takes all, or no value")
    }
  }
}
