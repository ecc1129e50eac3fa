import ZigguratCMicroHTTPD

/// Suspends a connection until its answer is there, and has it answered before it is read again.
///
/// libmicrohttpd (0.9.75) first reads from a resumed connection, because it was suspended while its request was being
/// read. If the client has closed its end after the request, which it may (RFC 9112, section 9.6), the read finds the
/// end of the stream and the connection is closed without an answer. But before it reads from any connection, the
/// library looks at all those with a timeout of their own, and calls their handlers. So a suspended connection has such
/// a timeout until its handler is called again.
enum Suspension {
  /// Suspends a connection, in a call of its handler.
  static func begin(_ connection: OpaquePointer) {
    if let known = deadline(connection) {
      known._withUnsafeGuaranteedRef { known in
        known.hasOwnTimeout = true
        // A timeout of its own is any other than that of all.
        zg_set_timeout(connection, UInt32(idleTimeout(known) + 1))
      }
    }
    MHD_suspend_connection(connection)
  }

  /// Gives a connection the timeout of all again, in the first call of its handler after it was resumed.
  static func end(_ connection: OpaquePointer, _ known: ConnectionDeadlines.Connection) {
    guard known.hasOwnTimeout else { return }
    known.hasOwnTimeout = false
    zg_set_timeout(connection, UInt32(idleTimeout(known)))
  }

  private static func idleTimeout(_ known: ConnectionDeadlines.Connection) -> Int {
    known.context._withUnsafeGuaranteedRef { $0.limits.idleTimeout }
  }
}
