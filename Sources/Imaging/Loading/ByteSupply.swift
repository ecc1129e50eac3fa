import Glibc
import ZigguratCVips

/// Supplies the bytes of a file that no path leads to as they are; from any thread.
package protocol ByteSupply: AnyObject, Sendable {
  var byteCount: Int { get }

  /// Reads bytes from `offset` on, fewer at the end.
  ///
  /// - Returns: how many were read; −1 if the file cannot be read.
  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) -> Int
}

/// A place in a `ByteSupply`, as decoders' functions for reading expect it. For one thread at a time.
package final class ByteCursor {
  package let supply: any ByteSupply
  private var position = 0

  package init(_ supply: any ByteSupply) { self.supply = supply }

  package func read(_ base: UnsafeMutableRawPointer, _ count: Int) -> Int {
    let done = supply.read(into: UnsafeMutableRawBufferPointer(start: base, count: count), at: position)
    position += max(0, done)
    return done
  }

  /// - Parameter whence: as for `lseek`.
  /// - Returns: the new position; −1 if it is invalid.
  package func seek(_ offset: Int, _ whence: Int32) -> Int {
    let base: Int? =
      switch whence {
      case SEEK_SET: 0
      case SEEK_CUR: position
      case SEEK_END: supply.byteCount
      default: nil
      }
    guard let base, case (let place, false) = base.addingReportingOverflow(offset), place >= 0 else {
      return -1
    }
    position = place
    return place
  }
}

extension Image {
  /// Opens a file whose bytes `supply` gives; see `init(path:access:page:scale:)`.
  ///
  /// - Parameter loader: the loader of such a file with a path; libvips must have it for sources, too.
  package convenience init(
    _ supply: any ByteSupply, loader: String, access: Access, subject: String
  ) throws(ImagingError) {
    Vips.start()
    _ = VipsLog.take()
    vips_error_clear()
    guard let source = vips_source_custom_new() else { throw ImagingError.take(loader, subject) }
    defer { g_object_unref(source) }
    let cursor = ByteCursor(supply)
    typealias Read =
      @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, Int64, UnsafeMutableRawPointer?) -> Int64
    typealias Seek = @convention(c) (OpaquePointer?, Int64, Int32, UnsafeMutableRawPointer?) -> Int64
    let read: Read = { _, base, count, cursor in
      guard let base, let cursor else { return -1 }
      return Unmanaged<ByteCursor>.fromOpaque(cursor)
        ._withUnsafeGuaranteedRef { Int64($0.read(base, Int(count))) }
    }
    let seek: Seek = { _, offset, whence, cursor in
      guard let cursor else { return -1 }
      return Unmanaged<ByteCursor>.fromOpaque(cursor)
        ._withUnsafeGuaranteedRef { Int64($0.seek(Int(offset), whence)) }
    }
    for (signal, callback) in [
      ("read", unsafeBitCast(read, to: GCallback.self)), ("seek", unsafeBitCast(seek, to: GCallback.self)),
    ] {
      g_signal_connect_data(
        source, signal, callback, Unmanaged.passRetained(cursor).toOpaque(),
        { data, _ in if let data { Unmanaged<ByteCursor>.fromOpaque(data).release() } },
        GConnectFlags(rawValue: 0))
    }
    let operation: Image
    do throws(ImagingError) {
      operation = try Operation.run(
        loader + "_source", subject,
        [
          "source": .source(UnsafeMutableRawPointer(source)), "access": .name(access.nick),
          "fail-on": .name("none"),
        ])
    } catch { throw error.said(of: loader) }
    self.init(owning: operation.retained(), subject: subject)
    // The name of the loader is that of the format everywhere else.
    setString("vips-loader", loader)
  }
}
