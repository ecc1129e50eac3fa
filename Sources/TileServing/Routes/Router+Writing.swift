/// Where requests that may change something go. The answer that a plan brings along runs on a worker and may
/// wait for disks.
extension Router {
  func bodyPlan() -> BodyPlan {
    guard case .api(let request) = path.route else { return .refuse(.methodNotAllowed) }
    return switch request {
    case .session: .collect { [site] in site.sessionAnswer($0) }
    case .uploads: uploadPlan(nil)
    case .upload(let id): id.map { uploadPlan(path.text($0)) } ?? .refuse(.methodNotAllowed)
    case .image(let image): plan(for: image)
    case .deleted: deletionsPlan()
    case .restore(let deletion): restorePlan(path.text(deletion))
    case .images, .events, .qrCode, .nothing: .refuse(.methodNotAllowed)
    }
  }
}
