package import ZigguratImageLibrary

/// How visitors come by more than everybody has.
package struct Access: Sendable {
  /// Captions, deletions and uploads are taken, from who may.
  package var isWritable = false
  /// With which the library may be written to; nil where nobody has one.
  package var token: AccessToken?
  /// Opens private spaces; nil if passwords are never taken.
  package var spaces: (any SpaceOpener)?
  /// Seconds that deleted images can be restored.
  package var keepsDeleted = 24 * 3600
  package var sessions = SessionTable.Limits()
  /// Seconds of a clock that never goes back.
  package var clock: @Sendable () -> Int = SessionTable.clock

  /// The proxies whose statement of the client address is accepted.
  package var proxies = TrustedProxies.none
  /// Whether trusted proxies state for each request by which address clients reach the server.
  package var readsForwardedBase = false
  package var hosts = HostNames(own: [])
  package var origins = AllowedOrigins.any
  /// Everybody may have the files from which images were made, where they are kept.
  package var offersOriginals = false
  /// The sites that may frame an image's page and the viewer alone. If nil, this server may frame the page and all sites
  /// may frame the viewer.
  package var frames: FrameAncestors?

  /// Seconds that tiles may be kept without asking again, whose URLs name no generation.
  package var tileMaxAge = 0
  /// The seed of the keys by which a shared cache in front forgets images; nil if there is no such cache.
  package var surrogateSeed: SurrogateKey.Seed?
  /// Whether a shared cache stands in front, which is told what it may keep and by which key it forgets.
  var isBehindEdge: Bool { surrogateSeed != nil }
  /// Whether `/metrics` is answered by listeners for monitors alone.
  package var hidesMetrics = false
  /// Whether answers tell how long they took.
  package var sendsTimings = false

  /// The log of changes and their authors; nil if none is kept.
  package var audit: AuditLog?

  package init() {}
}
