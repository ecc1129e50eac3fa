import ZigguratImaging

/// Pictures whose colours are names of classes, not light: the mean of two of them would be a third class.
enum SegmentationMap {
  /// TIFF 6.0, `PhotometricInterpretation`.
  private static let photometricOfPalettes = 3
  /// By so much two colours of labels differ, at least, in red, green or blue. Palettes of photographs, and of drawings
  /// with smooth edges, have shades that are nearer to each other.
  private static let leastDifference = 32

  /// Returns how a picture says that its colours are labels, as a clause; nil if it does not.
  ///
  /// - Parameter image: the picture, opened.
  static func sign(_ picture: SourcePicture, _ image: Image) -> String? {
    guard picture.stack == nil, picture.associated == nil else { return nil }
    switch Image.loader(ofPath: picture.path) {
    case "pngload":
      guard image.isLabelPNG else { return nil }
    case "tiffload":
      let page = picture.page ?? 0
      guard let directories = TIFFDirectories.remembered(path: picture.path)?.directories,
        directories.all.dropFirst(page).first?.photometric == photometricOfPalettes,
        let palette = Image.tiffPalette(path: picture.path, page: page), isOfLabels(palette)
      else { return nil }
    default: return nil
    }
    return "the colours of its palette are labels"
  }

  /// Whether the colours of a palette are those of labels: far from each other, and not ink on paper, whose thin
  /// strokes would vanish without their mean.
  /// - Parameter palette: red, green and blue of each entry.
  static func isOfLabels(_ palette: [[UInt8]]) -> Bool {
    let colours = Array(Set(palette))
    guard colours.count > 1, colours.contains(where: { Set($0).count > 1 }) else { return false }
    let hasPaper = colours.contains { $0.allSatisfy { $0 >= 240 } }
    let hasInk = colours.contains { $0.allSatisfy { $0 <= 48 } }
    guard !hasPaper || !hasInk else { return false }
    return colours.indices.allSatisfy { first in
      colours[..<first].allSatisfy { second in
        zip(colours[first], second).contains { abs(Int($0) - Int($1)) >= leastDifference }
      }
    }
  }
}

extension Image {
  /// Returns the palette of a TIFF's picture, red, green and blue of each entry; nil if it has none.
  fileprivate static func tiffPalette(path: String, page: Int) -> [[UInt8]]? {
    guard let handle = try? TIFFHandle(path: path, page: page), let tags = TIFFTags(handle), tags.bits <= 8,
      let planes = handle.palette(bits: tags.bits)
    else { return nil }
    return planes[0].indices.map { entry in planes.map { $0[entry] } }
  }
}
