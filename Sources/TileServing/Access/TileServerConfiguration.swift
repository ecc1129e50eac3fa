package import ZigguratImageLibrary

/// The configuration of access rights, network security, cache lifetimes and metrics.
package struct TileServerConfiguration: Sendable {
  /// Whether authorized clients can edit captions, delete images and upload.
  package var isWritable = false
  /// The token that grants write access to the library; `nil` if writing by token is disabled.
  package var token: AccessToken?
  /// The opener of private spaces; `nil` if passwords are never accepted.
  package var spaces: (any SpaceOpener)?
  /// Seconds during which deleted images can be restored.
  package var keepsDeleted = 24 * 3600
  package var sessions = SessionTable.Limits()
  /// A monotonic clock, in seconds.
  package var clock: @Sendable () -> Int = SessionTable.clock

  /// The proxies whose forwarding headers are trusted.
  package var proxies = TrustedProxies.none
  /// Whether trusted proxies state, for each request, the address by which clients reach the server.
  package var readsForwardedBase = false
  package var hosts = AllowedHosts(own: [])
  package var origins = AllowedOrigins.any
  /// Whether every client can download the original files, if they are kept.
  package var offersOriginals = false
  /// The sites that may show an image's page or the embedded viewer in a frame. If `nil`, only this server may
  /// frame the page, and every site may frame the viewer.
  package var frames: FrameAncestors?

  /// Seconds for which clients may reuse a tile without revalidation if its URL contains no generation.
  package var tileMaxAge = 0
  /// The seed of the surrogate keys by which a shared cache purges images; `nil` if there is no such cache.
  package var surrogateSeed: SurrogateKey.Seed?
  /// Whether a shared cache is in front of the server. Responses then contain its cache lifetimes and surrogate
  /// keys.
  var isBehindEdge: Bool { surrogateSeed != nil }
  /// Whether `/metrics` is served only by listeners for monitors.
  package var hidesMetrics = false
  /// Whether responses contain `Server-Timing`.
  package var sendsTimings = false

  /// The audit log of changes; `nil` if none is kept.
  package var audit: AuditLog?

  package init() {}
}
