import Glibc
import TileStorage

/// The body of a request: bytes, or a part of a file that is read during the transfer.
final class UploadBody {
  private enum Origin {
    case memory([UInt8])
    case file(Int32, start: Int)
  }

  private let origin: Origin
  let count: Int
  private var sent = 0

  init(_ bytes: [UInt8]) { (origin, count) = (.memory(bytes), bytes.count) }

  /// - Parameter file: an open file, which the caller closes after the request.
  init(_ file: Int32, _ range: Range<Int>) {
    origin = .file(file, start: range.lowerBound)
    count = range.count
  }

  /// Copies the next bytes; returns their number, or nil if the file cannot be read or was truncated.
  func next(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    let wanted = min(buffer.count, count - sent)
    guard wanted > 0 else { return 0 }
    switch origin {
    case .memory(let bytes):
      buffer.copyBytes(from: bytes[sent..<sent + wanted])
      sent += wanted
      return wanted
    case .file(let file, let start):
      var got = pread(file, buffer.baseAddress, wanted, start + sent)
      while got < 0, errno == EINTR { got = pread(file, buffer.baseAddress, wanted, start + sent) }
      guard got > 0 else { return nil }
      sent += got
      return got
    }
  }

  /// Returns the digest of the body; nil if the file cannot be read. Must be called before the body is sent.
  /// - Parameter other: called with the same bytes.
  func digest(_ other: (UnsafeRawBufferPointer) -> Void = { _ in }) -> [UInt8]? {
    defer { sent = 0 }
    var digest = SHA256()
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while sent < count {
      let got = buffer.withUnsafeMutableBytes { buffer -> Int? in
        guard let got = next(into: buffer) else { return nil }
        digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<got]))
        other(UnsafeRawBufferPointer(rebasing: buffer[..<got]))
        return got
      }
      guard got != nil else { return nil }
    }
    return digest.digest()
  }

  func rewind() { sent = 0 }
}
