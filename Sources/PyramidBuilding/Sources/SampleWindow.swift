import Imaging

/// Which of a source's values become black and white, where its samples have more than 8 bits or a sign.
public enum SampleWindow: Hashable, Sendable {
  /// The least and the greatest value that the picture has.
  case auto
  /// The range of the samples' type.
  case full
  /// From `low`, which is black, to `high`, which is white; what lies beyond is clipped.
  case range(low: Double, high: Double)
  /// One for each channel of a stack that is shown, in their order.
  case channels([SampleWindow])

  /// - Parameter name: `auto`, `full` or `low,high`, two numbers of which the second is greater, or several of them with
  ///   slashes between, for channels; nil for any other.
  public init?(name: String) {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count > 1 else {
      self.init(one: name)
      return
    }
    let windows = parts.compactMap { Self(one: String($0)) }
    guard windows.count == parts.count, windows.count <= 64 else { return nil }
    self = .channels(windows)
  }

  private init?(one name: String) {
    switch name {
    case "auto": self = .auto
    case "full": self = .full
    default:
      let ends = name.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
      guard ends.count == 2, let low = ends[0], let high = ends[1], low < high, (high - low).isFinite else {
        return nil
      }
      self = .range(low: low, high: high)
    }
  }

  /// What makes it again.
  var name: String {
    switch self {
    case .auto: "auto"
    case .full: "full"
    case .range(let low, let high): "\(low),\(high)"
    case .channels(let windows): windows.map(\.name).joined(separator: "/")
    }
  }
}

extension VipsSource {
  /// An image of which the values in the window fill the range of 16-bit samples; the image itself where its
  /// values are not to be moved.
  ///
  /// Where nothing was asked for, integers that leave their type's upper bits unused are spread, as those of cameras of
  /// 10, 12 or 14 bits would be next to black; told, as all that is done to every pixel. Floats are `inBytes`' then.
  static func windowed(
    _ image: Image, _ options: BuildOptions, _ steps: inout [String],
    _ open: () throws(ImagingError) -> Image
  ) throws(ImagingError) -> Image {
    let type = image.sampleType
    guard type != .byte,
      ["grey16", "rgb16", "b-w", "srgb", "rgb", "multiband"].contains(image.interpretation)
    else { return image }
    let colours = image.bands - (image.hasAlpha ? 1 : 0)
    var range: (least: Double, greatest: Double)
    switch (options.window, type.range) {
    case (.range(let low, let high), _): range = (low, high)
    case (.full, let whole?): range = (whole.lowerBound, whole.upperBound)
    // Who has channels gives each its own; others are refused before.
    case (.full, nil), (nil, nil), (.channels, _): return image
    case (.auto, _): range = try Image.range(ofFirst: colours, open)
    case (nil, let whole?):
      guard let found = try open().rangeWithoutTopBit(ofFirst: colours) else {
        range = (whole.lowerBound, whole.upperBound)
        break
      }
      range = found
    }
    // What 16 bits hold anyway, or a picture of one value.
    if type == .unsigned16, range == (0, 65535) || range.greatest <= range.least { return image }
    guard range.greatest > range.least, (range.greatest - range.least).isFinite else { return image }
    steps.append("values from \(text(range.least)) to \(text(range.greatest)) spread from black to white")
    return try image.spread(from: range.least, to: range.greatest, colours: colours)
  }

  private static func text(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
  }
}
