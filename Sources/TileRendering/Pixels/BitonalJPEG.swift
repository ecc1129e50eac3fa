import Glibc
import ZigguratCJPEGStream
import ZigguratImaging

/// An encoder of black and white pixels as a JPEG that decodes to exactly the same pixels.
///
/// The coefficients are those of pixels that lie `overshoot` beyond black and white. Quantization changes a pixel by
/// less than that, and a decoder clamps to 0…255.
enum BitonalJPEG {
  /// The quantization step of every coefficient. With 1, those of pixels beyond black and white would not fit baseline
  /// JPEG.
  private static let quantization: UInt16 = 2
  /// Half a quantization step in all 64 coefficients changes a pixel by 6.6 at most. The rest is for decoders with
  /// integer arithmetic.
  private static let overshoot: Float = 10

  /// `basis[u * 8 + x]`: the amplitude of frequency `u` at pixel `x` (ITU-T T.81, section A.3.3).
  private static let basis: [Float] = (0..<64).map { number in
    let (u, x) = (number / 8, number % 8)
    let scale = u == 0 ? (1.0 / 8).squareRoot() : 0.5
    return Float(scale * cos(Double(2 * x + 1) * Double(u) * .pi / 16))
  }

  /// - Parameter image: one band of 0 and 255.
  static func encode(_ image: Image) throws(ImagingError) -> [UInt8] {
    let pixels = try PixelBuffer(image)
    let (columns, rows) = ((pixels.width + 7) / 8, (pixels.height + 7) / 8)
    let blocks = UnsafeMutableBufferPointer<Int16>.allocate(capacity: columns * rows * 64)
    defer { blocks.deallocate() }
    blocks.initialize(repeating: 0)
    for row in 0..<rows {
      for column in 0..<columns {
        transform(pixels, column * 8, row * 8, to: blocks.baseAddress! + (row * columns + column) * 64)
      }
    }
    var info = js_info()
    info.width = Int32(pixels.width)
    info.height = Int32(pixels.height)
    info.components = 1
    info.h.0 = 1
    info.v.0 = 1
    info.colour = 1
    withUnsafeMutableBytes(of: &info.quantisation.0) { table in
      table.bindMemory(to: UInt16.self).update(repeating: quantization)
    }
    guard let writer = withUnsafePointer(to: info, js_tile_writer_new) else {
      throw failure("no memory for an encoder")
    }
    defer { js_tile_writer_free(writer) }
    var bytes: UnsafePointer<UInt8>?
    var count = 0
    var reason = [CChar](repeating: 0, count: Int(JS_ERROR_SIZE))
    let code = js_tile_write(
      writer, blocks.baseAddress, columns, info.width, info.height, &bytes, &count, &reason)
    guard code == 0 else {
      throw failure(String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }

  private static func failure(_ reason: String) -> ImagingError {
    ImagingError("jpegsave", "a picture in black and white", message: reason)
  }

  /// Writes the quantized coefficients of 8×8 pixels. The last ones are repeated beyond the right and lower edges.
  private static func transform(
    _ pixels: PixelBuffer, _ x: Int, _ y: Int, to block: UnsafeMutablePointer<Int16>
  ) {
    let plane = pixels.plane(0)
    withUnsafeTemporaryAllocation(of: Float.self, capacity: 128) { values in
      var whites = 0
      for row in 0..<8 {
        let line = plane.base + min(y + row, pixels.height - 1) * plane.stride
        for column in 0..<8 {
          let isWhite = line[min(x + column, pixels.width - 1)] != 0
          whites += isWhite ? 1 : 0
          values[row * 8 + column] = isWhite ? 127 + overshoot : -128 - overshoot
        }
      }
      // Most blocks have one colour, so that the DC coefficient alone is not 0.
      if whites == 0 || whites == 64 {
        block[0] = Int16((values[0] * 8 / Float(quantization)).rounded())
        return
      }
      for u in 0..<8 {
        for row in 0..<8 {
          var sum: Float = 0
          for column in 0..<8 { sum += values[row * 8 + column] * basis[u * 8 + column] }
          values[64 + row * 8 + u] = sum
        }
      }
      for v in 0..<8 {
        for u in 0..<8 {
          var sum: Float = 0
          for row in 0..<8 { sum += values[64 + row * 8 + u] * basis[v * 8 + row] }
          block[v * 8 + u] = Int16((sum / Float(quantization)).rounded())
        }
      }
    }
  }
}
