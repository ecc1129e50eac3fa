import TileGeometry
import ZigguratCTurboJPEG

/// A decompressor and a compressor of libjpeg-turbo; used by one thread at a time.
final class TurboJPEG {
  private let reader: tjhandle
  private let writer: tjhandle

  init() {
    // They fail only if there is no memory for a few kilobytes.
    reader = tjInitDecompress()!
    writer = tjInitCompress()!
  }

  deinit {
    tjDestroy(reader)
    tjDestroy(writer)
  }

  /// Decodes a JPEG; nil if TurboJPEG cannot convert its kind to gray or RGB.
  ///
  /// - Parameters:
  ///   - expected: the size that the header must have: no memory is allocated for another one.
  ///   - planar: whether 4:2:0 stays Y, Cb, Cr.
  func decode(
    _ bytes: UnsafeRawBufferPointer, size expected: PixelSize, planar: Bool
  ) throws(RenderError) -> PixelBuffer? {
    let source = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
    let count = UInt(bytes.count)
    var (width, height, sampling, space): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    guard tjDecompressHeader3(reader, source, count, &width, &height, &sampling, &space) == 0 else {
      throw failure(reader)
    }
    let size = try expected.checked(width: Int(width), height: Int(height))
    let code: Int32
    let result: PixelBuffer
    switch UInt32(space) {
    case TJCS_GRAY.rawValue:
      result = PixelBuffer(size, .interleaved(.gray))
      code = tjDecompress2(
        reader, source, count, result.memory.baseAddress, width, 0, height, Int32(TJPF_GRAY.rawValue),
        TJFLAG_ACCURATEDCT)
    case TJCS_YCbCr.rawValue where planar && UInt32(sampling) == TJSAMP_420.rawValue:
      result = PixelBuffer(size, .planar420)
      var planes: [UnsafeMutablePointer<UInt8>?] = (0..<3).map { result.plane($0).base }
      var strides = (0..<3).map { Int32(result.plane($0).stride) }
      code = tjDecompressToYUVPlanes(
        reader, source, count, &planes, width, &strides, height, TJFLAG_ACCURATEDCT)
    case TJCS_YCbCr.rawValue, TJCS_RGB.rawValue:
      result = PixelBuffer(size, .interleaved(.rgb))
      code = tjDecompress2(
        reader, source, count, result.memory.baseAddress, width, 0, height, Int32(TJPF_RGB.rawValue),
        TJFLAG_ACCURATEDCT)
    default: return nil
    }
    guard code == 0 else { throw failure(reader) }
    return result
  }

  /// Converts planes of 4:2:0 to RGB.
  func interleaved(_ pixels: PixelBuffer) throws(RenderError) -> PixelBuffer {
    guard pixels.layout == .planar420 else { return pixels }
    let result = PixelBuffer(pixels.size, .interleaved(.rgb))
    var planes: [UnsafePointer<UInt8>?] = (0..<3).map { UnsafePointer(pixels.plane($0).base) }
    var strides = (0..<3).map { Int32(pixels.plane($0).stride) }
    let code = tjDecodeYUVPlanes(
      reader, &planes, &strides, Int32(TJSAMP_420.rawValue), result.memory.baseAddress,
      Int32(pixels.width), 0, Int32(pixels.height), Int32(TJPF_RGB.rawValue), 0)
    guard code == 0 else { throw failure(reader) }
    return result
  }

  /// Encodes gray, RGB or planes as JPEG.
  func encode(_ pixels: PixelBuffer, quality: Int) throws(RenderError) -> [UInt8] {
    let (width, height) = (Int32(pixels.width), Int32(pixels.height))
    let isGray = pixels.layout == .interleaved(.gray)
    let isPlanar = pixels.layout == .planar420
    let sampling = isGray ? TJSAMP_GRAY : isPlanar || quality < 90 ? TJSAMP_420 : TJSAMP_444
    var size = tjBufSize(width, height, Int32(sampling.rawValue))
    guard size < 1 << 31, let start = tjAlloc(Int32(size)) else {
      throw RenderError("a picture of \(width)×\(height) is too large for JPEG")
    }
    var buffer: UnsafeMutablePointer<UInt8>? = start
    defer { tjFree(start) }
    // The buffer holds the largest possible JPEG, so the library never moves it.
    let flags = TJFLAG_NOREALLOC | TJFLAG_ACCURATEDCT
    let code: Int32
    if isPlanar {
      var planes: [UnsafePointer<UInt8>?] = (0..<3).map { UnsafePointer(pixels.plane($0).base) }
      let strides = (0..<3).map { Int32(pixels.plane($0).stride) }
      code = tjCompressFromYUVPlanes(
        writer, &planes, width, strides, height, Int32(sampling.rawValue), &buffer, &size, Int32(quality),
        flags)
    } else {
      precondition(isGray || pixels.layout == .interleaved(.rgb), "JPEG is gray or RGB")
      code = tjCompress2(
        writer, pixels.memory.baseAddress, width, 0, height,
        Int32((isGray ? TJPF_GRAY : TJPF_RGB).rawValue), &buffer, &size, Int32(sampling.rawValue),
        Int32(quality), flags)
    }
    guard code == 0 else { throw failure(writer) }
    return Array(UnsafeBufferPointer(start: start, count: Int(size)))
  }

  /// Returns the error of a call. A warning, such as truncated data, counts as damage.
  private func failure(_ handle: tjhandle) -> RenderError {
    RenderError("JPEG: " + String(cString: tjGetErrorStr2(handle)))
  }
}
