/// Where requests that may change something go. The answer that a plan brings along runs on a worker and may
/// wait for disks.
extension Router {
  func bodyPlan() -> BodyPlan {
    switch segments() {
    case .success(let segments): bodyPlan(segments)
    case .failure(let refusal): .refuse(refusal.response)
    }
  }

  private func bodyPlan(_ segments: [String]) -> BodyPlan {
    if let plan = editPlan(segments) { return plan }
    return switch segments {
    case ["api", "session"]: .collect { [site] in site.sessionAnswer($0) }
    case let path where path.starts(with: ["api", "uploads"]): uploadPlan(Array(path.dropFirst(2)))
    default: .refuse(.methodNotAllowed)
    }
  }
}
