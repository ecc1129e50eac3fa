import Glibc
import ZigguratCMicroHTTPD

/// The functions that libmicrohttpd calls. They convert pointers and call a method of the `HTTPConnection` or `EventLoop`.
///
/// A closure in a main file would be checked for the main actor and crash on the first request.
enum MHDCallbacks {
  typealias Completed =
    @convention(c) (
      UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
      MHD_RequestTerminationCode
    ) -> Void
  typealias ConnectionChanged =
    @convention(c) (
      UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
      MHD_ConnectionNotificationCode
    ) -> Void
  typealias Unescape =
    @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?) -> Int
  typealias SeeURI =
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) ->
    UnsafeMutableRawPointer?

  /// Keeps the path as sent: after decoding, `%00` would truncate it, and `%2F` would be a slash.
  static let keepEscapes: Unescape = { _, _, text in text.map { strlen($0) } ?? 0 }

  /// Called before the daemon splits the query.
  static let seeURI: SeeURI = { _, uri, handle in
    handle.flatMap(HTTPConnection.of)?._withUnsafeGuaranteedRef { $0.requestLineRead(uri) }
    return nil
  }

  static let handle: MHD_AccessHandlerCallback = { _, handle, url, method, version, data, size, _ in
    guard let url, let method, let version, let size, let connection = handle.flatMap(HTTPConnection.of)
    else {
      return .NO
    }
    return connection._withUnsafeGuaranteedRef { $0.handle(url, method, version, data, size) }
  }

  static let requestCompleted: Completed = { _, handle, _, _ in
    handle.flatMap(HTTPConnection.of)?._withUnsafeGuaranteedRef { $0.requestCompleted() }
  }

  /// Called with the event loop. The slot holds the connection's context, retained.
  static let connectionChanged: ConnectionChanged = { loop, handle, slot, code in
    guard let loop, let handle, let slot else { return }
    Unmanaged<EventLoop>.fromOpaque(loop)._withUnsafeGuaranteedRef { loop in
      if code == .CONNECTION_NOTIFY_STARTED {
        slot.pointee = Unmanaged.passRetained(loop.begin(handle)).toOpaque()
      } else if let context = slot.pointee {
        slot.pointee = nil
        loop.end(Unmanaged<HTTPConnection>.fromOpaque(context).takeRetainedValue())
      }
    }
  }
}
