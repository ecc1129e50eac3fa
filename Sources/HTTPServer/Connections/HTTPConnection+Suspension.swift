import ZigguratCMicroHTTPD

/// Suspends a connection until its response is available, and sends it before the connection is read again.
///
/// libmicrohttpd (0.9.75) first reads from a resumed connection, because it was suspended while its request was being
/// read. A client may close its end after the request (RFC 9112, section 9.6). The read then finds the end of the
/// stream, and the connection is closed without a response. Before it reads from any connection, the library calls the
/// handlers of all connections that have their own timeout. Therefore a suspended connection has its own timeout until
/// its handler is called again.
extension HTTPConnection {
  /// Suspends the connection, in a call of its handler.
  func suspend() {
    hasOwnTimeout = true
    // Its own timeout is any that differs from the default.
    zg_set_timeout(handle, UInt32(server.limits.idleTimeout + 1))
    MHD_suspend_connection(handle)
  }

  /// Has the handler called again, by the connection's event loop. Any thread may call it, once, and touches the
  /// connection no more.
  func resume() { MHD_resume_connection(handle) }

  /// Gives the connection the timeout of all again, in the first call of its handler after it was resumed.
  func restoreTimeout() {
    guard hasOwnTimeout else { return }
    hasOwnTimeout = false
    zg_set_timeout(handle, UInt32(server.limits.idleTimeout))
  }
}
