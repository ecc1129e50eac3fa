import CMicroHTTPD
import TileServing

/// Reads one listener's events for the daemon; between events the connection is suspended.
final class EventReader {
  private let stream: EventStream
  private let connection: OpaquePointer

  private init(_ stream: EventStream, _ connection: OpaquePointer) {
    (self.stream, self.connection) = (stream, connection)
  }

  /// An answer without end.
  static func response(_ stream: EventStream, _ connection: OpaquePointer) -> OpaquePointer? {
    let owner = Unmanaged.passRetained(EventReader(stream, connection))
    let response = MHD_create_response_from_callback(
      UInt64.max, 4096,
      { reader, _, room, size in
        guard let reader, let room else { return -1 }
        return Unmanaged<EventReader>.fromOpaque(reader).takeUnretainedValue()
          .read(into: UnsafeMutableRawBufferPointer(start: room, count: size))
      }, owner.toOpaque(),
      { reader in
        let reader = Unmanaged<EventReader>.fromOpaque(reader!).takeRetainedValue()
        reader.stream.close()
      })
    if response == nil { owner.release() }
    return response
  }

  /// -1 ends the answer (MHD_CONTENT_READER_END_OF_STREAM).
  private func read(into room: UnsafeMutableRawBufferPointer) -> Int {
    // Safe: it lives as long as it is suspended, and is resumed once.
    nonisolated(unsafe) let connection = connection
    return stream.read(into: room) {
      MHD_suspend_connection(connection)
      return { MHD_resume_connection(connection) }
    } ?? -1
  }
}
