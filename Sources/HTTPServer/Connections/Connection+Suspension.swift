import ZigguratCMicroHTTPD

/// Suspends a connection until its answer is there, and has it answered before it is read again.
///
/// libmicrohttpd (0.9.75) first reads from a resumed connection, because it was suspended while its request was being
/// read. If the client has closed its end after the request, which it may (RFC 9112, section 9.6), the read finds the
/// end of the stream and the connection is closed without an answer. But before it reads from any connection, the
/// library looks at all those with a timeout of their own, and calls their handlers. So a suspended connection has such
/// a timeout until its handler is called again.
extension Connection {
  /// Suspends the connection, in a call of its handler.
  func suspend() {
    hasOwnTimeout = true
    // A timeout of its own is any other than that of all.
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
