/// The extent to which a build removes archives whose sources are gone.
enum PruneMode {
  case nothing
  /// Nothing is removed if the removals would be many at once, which is reported.
  case careful
  case all

  static let options = [
    Option(
      "prune", optional: "all", isCommon: true,
      help: "Move archives whose sources are gone to the trash; =all also if much is gone at once"),
    Option(
      "keep-deleted", .hours, default: "for ever", requires: "prune",
      help: "Lifetime of archives in the trash"),
  ].grouped(.library)

  init(_ arguments: Arguments) throws(UsageError) {
    if arguments.string("prune") == "all" {
      self = .all
      return
    }
    do throws(UsageError) { self = try arguments.flag("prune") ? .careful : .nothing } catch {
      throw arguments.invalid("prune", expected: "all, or no value")
    }
  }
}
