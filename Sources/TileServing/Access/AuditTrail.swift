import ZigguratHTTPMessages

/// Records changes and logins in the audit log, if there is one, and counts refused logins.
struct AuditTrail: Sendable {
  let log: AuditLog?
  let attempts: LoginAttempts

  func note(_ event: AuditEvent, _ request: Request? = nil, _ principal: Principal? = nil) {
    if case .login(_, isRight: false) = event { attempts.countRefused() }
    log?.add(event, client: request?.origin, principal: principal)
  }
}
