import ZigguratCMicroHTTPD
import ZigguratHTTPMessages

/// Reads a body that is made meanwhile for the daemon; while there is nothing the connection is suspended.
final class StreamReader {
  private let stream: any BodyStream
  private let connection: HTTPConnection

  private init(_ stream: any BodyStream, _ connection: HTTPConnection) {
    self.stream = stream
    self.connection = connection
  }

  /// An answer without end.
  static func response(_ stream: any BodyStream, _ connection: HTTPConnection) -> OpaquePointer? {
    retained(StreamReader(stream, connection)) {
      MHD_create_response_from_callback(
        UInt64.max, 4096,
        { reader, _, room, size in
          guard let reader, let room else { return -1 }
          return Unmanaged<StreamReader>.fromOpaque(reader).takeUnretainedValue()
            .read(into: UnsafeMutableRawBufferPointer(start: room, count: size))
        }, $0,
        { reader in
          let reader = Unmanaged<StreamReader>.fromOpaque(reader!).takeRetainedValue()
          reader.stream.close()
        })
    }
  }

  /// -1 ends the answer (MHD_CONTENT_READER_END_OF_STREAM).
  private func read(into room: UnsafeMutableRawBufferPointer) -> Int {
    stream.read(into: room) { [connection] in
      MHD_suspend_connection(connection.handle)
      return { connection.resume() }
    } ?? -1
  }
}
