/// Where requests that may change something go. The answer that a plan brings along runs on a worker and may
/// wait for disks.
extension Router {
  func bodyPlan() -> BodyPlan {
    let segments = path.segments
    if let plan = editPlan(segments) { return plan }
    return switch segments {
    case ["api", "session"]: .collect { [site] in site.sessionAnswer($0) }
    case let path where path.starts(with: ["api", "uploads"]): uploadPlan(Array(path.dropFirst(2)))
    default: .refuse(.methodNotAllowed)
    }
  }
}
