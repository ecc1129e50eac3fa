import ZigguratImaging

/// The window/level of a source (contrast stretch; in DICOM the VOI LUT): the values that become black and white, if its samples have more than 8 bits or a sign.
@nonexhaustive
public enum SampleWindow: Hashable, Sendable {
  /// The least and the greatest value of the image.
  case auto
  /// The range of the samples' type.
  case full
  /// `low` becomes black and `high` white. Values beyond are clipped.
  case range(low: End, high: End)
  /// A window for each channel of a stack that is shown, in their order.
  case channels([SampleWindow])

  /// One end of a window.
  @nonexhaustive
  public enum End: Hashable, Sendable {
    /// A sample value, in the file's own numbers.
    case value(Double)
    /// The value below which this percentage of the image's samples lie, 0 to 100.
    case percentile(Double)

    fileprivate init?(_ text: Substring) {
      guard text.first == "p" else {
        guard let value = Double(text) else { return nil }
        self = .value(value)
        return
      }
      guard let share = Double(text.dropFirst()), (0...100).contains(share) else { return nil }
      self = .percentile(share)
    }

    fileprivate var name: String {
      switch self {
      case .value(let value): "\(value)"
      case .percentile(let share): "p\(share)"
      }
    }

    /// - Parameter found: the value of the percentile.
    fileprivate func value(_ found: Double?) -> Double {
      if case .value(let value) = self { value } else { found ?? 0 }
    }

    /// The same end in samples that were inverted.
    /// - Parameter mirror: the sum of each sample and the file's own.
    fileprivate func mirrored(_ mirror: Double) -> Self {
      switch self {
      case .value(let value): .value(mirror - value)
      case .percentile(let share): .percentile(100 - share)
      }
    }

    fileprivate var share: Double? { if case .percentile(let share) = self { share } else { nil } }
  }

  /// - Parameter name: `auto`, `full` or `low,high`, two numbers of which the second is greater and which are
  ///   percentiles behind a `p`, or several of them with slashes between, for channels; nil for any other.
  package init?(name: String) {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count > 1 else {
      self.init(one: name)
      return
    }
    let windows = parts.compactMap { Self(one: String($0)) }
    guard windows.count == parts.count, windows.count <= 4096 else { return nil }
    self = .channels(windows)
  }

  private init?(one name: String) {
    switch name {
    case "auto": self = .auto
    case "full": self = .full
    default:
      let ends = name.split(separator: ",", omittingEmptySubsequences: false).map { End($0) }
      guard ends.count == 2, let low = ends[0], let high = ends[1] else { return nil }
      self = .range(low: low, high: high)
      if refusal != nil { return nil }
    }
  }

  /// The text that `init(name:)` makes it from.
  var name: String {
    switch self {
    case .auto: "auto"
    case .full: "full"
    case .range(let low, let high): "\(low.name),\(high.name)"
    case .channels(let windows): windows.map(\.name).joined(separator: "/")
    }
  }
}

extension SampleWindow {
  /// Returns a DICOM file with this window instead of its own.
  func applied(to file: DICOMImage, _ path: String) throws(BuildError) -> DICOMImage {
    switch self {
    case .auto: return file.with(.values, name: name)
    case .full: return file.with(.samples, name: name)
    case .range(let low, let high): return file.with(.ends(low.ofDICOM, high.ofDICOM), name: name)
    case .channels(let windows):
      throw BuildError(
        path, "--window has windows for \(windows.count) channels, and it is not a stack of channels")
    }
  }
}

extension SampleWindow.End {
  fileprivate var ofDICOM: DICOMImage.End {
    switch self {
    case .value(let value): .value(value)
    case .percentile(let share): .percentile(share)
    }
  }
}

extension VipsImageSource {
  /// Returns the image with the values of the window spread over the range of 16-bit samples. Linear light stays linear
  /// light, from 0 to 1. Without a window to apply it returns the image itself.
  ///
  /// Without `--window`, integers whose type's upper bits are unused, as those of cameras of 10, 12 or 14 bits, are
  /// spread from their least to their greatest value, unless the file states what white is. Floats are left to
  /// `inBytes`.
  ///
  /// - Parameter isChannel: whether the image is a channel of a stack. A window that was asked for then applies to
  ///   bytes, too.
  static func windowed(
    _ image: Image, _ options: BuildOptions, isChannel: Bool = false, _ steps: inout [String],
    _ open: () throws(ImagingError) -> Image
  ) throws(ImagingError) -> Image {
    let (type, whole) = (image.sampleType, image.sampleRange)
    let isLight = image.interpretation == "scrgb"
    guard type != .byte || isChannel && ![nil, .full].contains(options.window),
      isLight || ["grey16", "rgb16", "b-w", "srgb", "rgb", "multiband"].contains(image.interpretation)
    else { return image }
    let colours = image.bands - (image.hasAlpha ? 1 : 0)
    var range: (least: Double, greatest: Double)
    switch (options.window, whole) {
    case (.range(let low, let high), _):
      let (low, high) = image.mirror.map { (high.mirrored($0), low.mirrored($0)) } ?? (low, high)
      range = try ends(low, high, colours, open)
    case (.full, _) where image.declaredWhite != nil, (nil, _) where image.declaredWhite != nil:
      range = (0, image.declaredWhite ?? 0)
    case (.full, let whole?): range = (whole.lowerBound, whole.upperBound)
    // Stacks apply one window to each channel; for other images several windows are refused before.
    case (.full, nil), (nil, nil), (.channels, _): return image
    case (.auto, _): range = try Image.range(ofFirst: colours, open)
    case (nil, let whole?):
      range = (whole.lowerBound, whole.upperBound)
      if !image.statesWhite, let found = try open().rangeWithoutTopBit(ofFirst: colours) { range = found }
    }
    // A picture of one value gets the range that its type or its alpha has.
    if let whole, image.hasDeclaredBits || image.hasAlpha, range.greatest <= range.least {
      range = (whole.lowerBound, whole.upperBound)
    }
    // 16-bit samples that fill their range, or have one value, stay as they are.
    if type == .unsigned16, range == (0, 65535) || range.greatest <= range.least { return image }
    guard range.greatest > range.least, (range.greatest - range.least).isFinite else { return image }
    let shown = image.mirror.map { ($0 - range.least, $0 - range.greatest) } ?? range
    steps.append("values from \(text(shown.0)) to \(text(shown.1)) spread from black to white")
    if isLight { return try image.light(from: range.least, to: range.greatest, colours: colours) }
    return try image.spread(from: range.least, to: range.greatest, colours: colours).black(whereNaNIn: image)
  }

  private static func ends(
    _ low: SampleWindow.End, _ high: SampleWindow.End, _ colours: Int,
    _ open: () throws(ImagingError) -> Image
  ) throws(ImagingError) -> (least: Double, greatest: Double) {
    let shares = [low, high].compactMap(\.share)
    guard !shares.isEmpty else { return (low.value(nil), high.value(nil)) }
    // A picture without a finite sample has no range.
    guard let found = try Image.percentiles(shares, ofFirst: colours, open) else { return (0, 0) }
    return (low.value(found.first), high.value(found.last))
  }

  private static func text(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
  }
}
