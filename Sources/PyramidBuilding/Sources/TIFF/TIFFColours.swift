import ZigguratCTIFF

/// The numbers of CIELAB colours that the samples of a TIFF stand for.
struct LabCoding {
  private enum Kind { case cie, icc, itu }

  private let kind: Kind
  private let isWide: Bool
  private let greatest: Float

  /// `nil` if the samples are not of 8 or 16 bits, or too few.
  init?(_ tags: TIFFTags) {
    guard tags.bits == 8 || tags.bits == 16, tags.samples >= 3,
      tags.format == SAMPLEFORMAT_UINT || tags.format == SAMPLEFORMAT_INT
    else { return nil }
    isWide = tags.bits == 16
    greatest = isWide ? 65535 : 255
    switch tags.photometric {
    case PHOTOMETRIC_ICCLAB: kind = .icc
    case PHOTOMETRIC_ITULAB: kind = .itu
    default: kind = .cie
    }
  }

  /// L* 0…100, a* and b* around 0 (TIFF 6.0, section 23), or as ICC profiles of version 2 have them (TIFF Technical
  /// Note 4), or fax machines (ITU-T T.42; RFC 2301, section 6.2.3); any other band is alpha's 0…255.
  func value(_ sample: UInt64, band: Int) -> Float {
    let number = Float(sample)
    let scale: Float = isWide ? 256 : 1
    switch (band, kind) {
    case (0, .icc): return number * 100 / (isWide ? 65280 : 255)
    case (0, _): return number * 100 / greatest
    case (1...2, .icc): return number / scale - 128
    case (1, .itu): return (number - 128 * scale) * 170 / greatest
    case (2, .itu): return (number - 96 * scale) * 200 / greatest
    case (1...2, .cie):
      return
        (isWide ? Float(Int16(truncatingIfNeeded: sample)) : Float(Int8(truncatingIfNeeded: sample))) / scale
    default: return number * 255 / greatest
    }
  }
}

/// The conversion of 8-bit Y'CbCr to RGB by a file's coefficients and its reference black and white (TIFF 6.0, section
/// 21).
struct YCbCrCoding {
  /// Pixels that share their chroma, across and down, and lie together: Y of each, then Cb and Cr.
  let across, down: Int
  private let red, green, blue: Float
  private let reference: [Float]

  /// - Parameter isSubsampled: whether pixels lie together as the file's subsampling says.
  init(_ handle: TIFFHandle, isSubsampled: Bool) {
    let subsampling = isSubsampled ? handle.shorts(TIFFTAG_YCBCRSUBSAMPLING) : [1, 1]
    across = max(1, subsampling.first ?? 1)
    down = max(1, subsampling.last ?? 1)
    let coefficients = handle.floats(TIFFTAG_YCBCRCOEFFICIENTS, count: 3) ?? [0.299, 0.587, 0.114]
    red = coefficients[0]
    green = coefficients[1]
    blue = coefficients[2]
    reference = handle.floats(TIFFTAG_REFERENCEBLACKWHITE, count: 6) ?? [0, 255, 128, 255, 128, 255]
  }

  /// Converts the upper left of a unit whose rows have `chunkWidth` pixels.
  func convert(
    _ samples: UnsafeRawBufferPointer, chunkWidth: Int, width: Int, height: Int,
    to out: UnsafeMutableRawBufferPointer
  ) {
    let block = across * down + 2
    let rowSize = (chunkWidth + across - 1) / across * block
    for y in 0..<height {
      let row = y / down * rowSize
      guard row + rowSize <= samples.count else { return }
      for x in 0..<width {
        let at = row + x / across * block
        let colour = rgb(
          samples[at + y % down * across + x % across], samples[at + block - 2], samples[at + block - 1])
        for band in 0..<3 { out[3 * (y * width + x) + band] = colour[band] }
      }
    }
  }

  private func rgb(_ y: UInt8, _ cb: UInt8, _ cr: UInt8) -> SIMD3<UInt8> {
    func part(_ code: UInt8, _ index: Int, _ range: Float) -> Float {
      (Float(code) - reference[index]) * range / (reference[index + 1] - reference[index])
    }
    let (y, cb, cr) = (part(y, 0, 255), part(cb, 2, 127), part(cr, 4, 127))
    let (r, b) = (cr * (2 - 2 * red) + y, cb * (2 - 2 * blue) + y)
    let g = (y - blue * b - red * r) / green
    func byte(_ value: Float) -> UInt8 { UInt8(Float.minimum(.maximum(value.rounded(), 0), 255)) }
    return SIMD3(byte(r), byte(g), byte(b))
  }
}
