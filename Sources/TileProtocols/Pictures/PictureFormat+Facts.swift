extension PictureFormat {
  /// All that is known of a format but its encoder.
  struct Facts {
    let ending: StaticString
    let mediaType: StaticString
    var keepsAlpha = true
    /// What encoding a pixel takes; see `PictureFormat.weight`.
    let weight: Int
    /// Bytes that encoding takes for each pixel.
    var bytesPerPixel = 16
    /// Pixels that a file can hold along a side.
    var longestSide = 65_500
  }

  /// Where a media type's own word begins: behind `image/`.
  static let mediaTypeStart = 6

  var facts: Facts {
    switch self {
    case .jpg: Facts(ending: "jpg", mediaType: "image/jpeg", keepsAlpha: false, weight: 1)
    case .png: Facts(ending: "png", mediaType: "image/png", weight: 10)
    case .webp:
      // libwebp 1.2.4 takes 38 for transparency like noise, which it codes as it does lossless pixels, and 6 without.
      Facts(ending: "webp", mediaType: "image/webp", weight: 4, bytesPerPixel: 48, longestSide: 16_383)
    case .tif: Facts(ending: "tif", mediaType: "image/tiff", weight: 18)
    case .gif: Facts(ending: "gif", mediaType: "image/gif", weight: 26)
    case .avif:
      Facts(ending: "avif", mediaType: "image/avif", weight: 8, bytesPerPixel: 64, longestSide: 16_383)
    case .jxl: Facts(ending: "jxl", mediaType: "image/jxl", weight: 8, bytesPerPixel: 64)
    }
  }
}
