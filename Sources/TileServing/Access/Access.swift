/// How visitors come by more than everybody has.
public struct Access: Sendable {
  /// Captions, deletions and uploads are taken, from who may.
  public var isWritable = false
  /// With which the library may be written to; nil where nobody has one.
  public var token: AccessToken?
  /// What opens private spaces; nil where passwords are not taken.
  public var spaces: (any SpaceOpener)?
  /// Seconds that deleted images can be restored.
  public var keepsDeleted = 24 * 3600
  public var sessions = SessionTable.Limits()
  /// Seconds of a clock that never goes back.
  public var clock: @Sendable () -> Int = SessionTable.clock

  /// Whose word counts for where a request comes from.
  public var proxies = TrustedProxies.none
  public var hosts = HostNames(own: [])
  public var origins = AllowedOrigins.any
  /// Who may frame a picture's page.
  public var frames = FrameAncestors.own

  /// Where it is written down who changed what; nil where it is not.
  public var audit: AuditLog?

  public init() {}
}
