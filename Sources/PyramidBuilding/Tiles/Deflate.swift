import CDeflate
import CISAL
import Glibc

/// zlib streams by ISA-L at level 1: of a photograph's filtered rows level 2 makes 0.6% less in a tenth more
/// of a build's time.
final class QuickDeflate {
  private let levelBuffer: UnsafeMutablePointer<UInt8>
  private let stream: UnsafeMutablePointer<isal_zstream>

  private static let level: UInt32 = 1
  // 4 KiB of histograms, 16 of hash table and 64 × 1024 tokens of 4 bytes: the header's
  // ISAL_DEF_LVL1_LARGE is arithmetic that Swift does not import; ISA-L refuses a buffer that is too small.
  private static let levelBufferSize = (4 + 16 + 4 * 64) * 1024

  init() {
    levelBuffer = .allocate(capacity: Self.levelBufferSize)
    stream = .allocate(capacity: 1)
    // ISA-L's own initialization leaves the window's size as it finds it.
    memset(stream, 0, MemoryLayout<isal_zstream>.size)
  }

  deinit {
    levelBuffer.deallocate()
    stream.deallocate()
  }

  /// - Parameter capacity: bytes that `data` takes.
  /// - Returns: the bytes written.
  func deflate(
    _ bytes: UnsafeMutablePointer<UInt8>, count: Int, to data: UnsafeMutablePointer<UInt8>, capacity: Int
  ) throws(BuildError) -> Int {
    isal_deflate_stateless_init(stream)
    stream.pointee.level = Self.level
    stream.pointee.level_buf = levelBuffer
    stream.pointee.level_buf_size = UInt32(Self.levelBufferSize)
    stream.pointee.gzip_flag = UInt16(IGZIP_ZLIB)
    stream.pointee.end_of_stream = 1
    stream.pointee.flush = UInt16(NO_FLUSH)
    stream.pointee.next_in = bytes
    stream.pointee.avail_in = UInt32(count)
    stream.pointee.next_out = data
    stream.pointee.avail_out = UInt32(capacity)
    let code = isal_deflate_stateless(stream)
    guard code == COMP_OK else { throw BuildError("tile", "deflate failed with code \(code)") }
    return Int(stream.pointee.total_out)
  }
}

/// zlib streams by libdeflate: a little smaller than zlib's own of the same level, and faster.
final class ThoroughDeflate {
  /// libdeflate's levels 4, 6 and 7; each takes about twice as long as the one before.
  enum Effort: Int, CaseIterable {
    case some = 4
    case more = 6
    case most = 7
  }

  private let compressors: [OpaquePointer]

  init() throws(BuildError) {
    let compressors = Effort.allCases.map { libdeflate_alloc_compressor(Int32($0.rawValue)) }
    guard !compressors.contains(nil) else {
      for compressor in compressors { libdeflate_free_compressor(compressor) }
      throw BuildError("tile", "no memory for a PNG encoder", isTemporary: true)
    }
    self.compressors = compressors.map { $0! }
  }

  deinit {
    for compressor in compressors { libdeflate_free_compressor(compressor) }
  }

  /// - Returns: the bytes written; 0 where they do not fit.
  func deflate(
    _ bytes: UnsafePointer<UInt8>, count: Int, to data: UnsafeMutablePointer<UInt8>, capacity: Int,
    effort: Effort
  ) -> Int {
    let compressor = compressors[effort == .some ? 0 : effort == .more ? 1 : 2]
    return libdeflate_zlib_compress(compressor, bytes, count, data, capacity)
  }
}
