/// The bands of a pixel that lie side by side in memory, a byte each.
package enum PixelBands: Int, CaseIterable, Sendable {
  case gray = 1
  case grayAlpha, rgb, rgba

  package init(isGray: Bool, hasAlpha: Bool) {
    self = isGray ? hasAlpha ? .grayAlpha : .gray : hasAlpha ? .rgba : .rgb
  }

  /// Bytes of a pixel.
  package var count: Int { rawValue }

  package var isGray: Bool {
    switch self {
    case .gray, .grayAlpha: true
    case .rgb, .rgba: false
    }
  }

  /// Whether the last band is alpha, which no colour is multiplied by.
  package var hasAlpha: Bool {
    switch self {
    case .grayAlpha, .rgba: true
    case .gray, .rgb: false
    }
  }
}

/// The arrangement of 8-bit pixels in memory, from decoder to encoder.
package enum PixelLayout: Hashable, Sendable {
  /// One plane of whole pixels.
  case interleaved(PixelBands)
  /// Y, Cb, Cr planes of JPEG 4:2:0: the chroma planes have half the columns and rows.
  case planar420

  package var planeCount: Int {
    switch self {
    case .interleaved: 1
    case .planar420: 3
    }
  }

  /// Returns the number of image pixels that one sample of the plane covers along each axis.
  package func subsampling(ofPlane plane: Int) -> Int { self == .planar420 && plane > 0 ? 2 : 1 }

  /// Bytes of one sample of a plane.
  package var bandsPerPlane: Int {
    switch self {
    case .interleaved(let bands): bands.count
    case .planar420: 1
    }
  }

  package var hasAlpha: Bool {
    switch self {
    case .interleaved(let bands): bands.hasAlpha
    case .planar420: false
    }
  }

  /// The bands of interleaved pixels. Planes, which have none, exist only for JPEG and for code that separates them.
  package var bands: PixelBands {
    switch self {
    case .interleaved(let bands): bands
    case .planar420: preconditionFailure("planes are not whole pixels")
    }
  }
}
