import Imaging

/// Which of a source's values become black and white, where its samples have more than 8 bits or a sign.
public enum SampleWindow: Hashable, Sendable {
  /// The least and the greatest value that the picture has.
  case auto
  /// The range of the samples' type.
  case full
  /// From `low`, which is black, to `high`, which is white; what lies beyond is clipped.
  case range(low: End, high: End)
  /// One for each channel of a stack that is shown, in their order.
  case channels([SampleWindow])

  /// One end of a window.
  public enum End: Hashable, Sendable {
    /// A value of the samples' own.
    case value(Double)
    /// The value below which so many percent of the picture's samples lie, 0…100.
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

    fileprivate var share: Double? { if case .percentile(let share) = self { share } else { nil } }
  }

  /// - Parameter name: `auto`, `full` or `low,high`, two numbers of which the second is greater and which are percentiles
  ///   behind a `p`, or several of them with slashes between, for channels; nil for any other.
  public init?(name: String) {
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
      switch (low, high) {
      case (.value(let low), .value(let high)): guard low < high, (high - low).isFinite else { return nil }
      case (.percentile(let low), .percentile(let high)): guard low < high else { return nil }
      case (.value(let value), _), (_, .value(let value)): guard value.isFinite else { return nil }
      }
      self = .range(low: low, high: high)
    }
  }

  /// What makes it again.
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
  func applied(to file: DICOMFile, _ path: String) throws(BuildError) -> DICOMFile {
    switch self {
    case .auto: return file.with(.values, name: name)
    case .full: return file.with(.samples, name: name)
    case .range(let low, let high): return file.with(.ends(low.ofDICOM, high.ofDICOM), name: name)
    case .channels(let windows):
      throw BuildError(
        path, "--window has windows for \(windows.count) channels, and it is no stack of channels")
    }
  }
}

extension SampleWindow.End {
  fileprivate var ofDICOM: DICOMFile.End {
    switch self {
    case .value(let value): .value(value)
    case .percentile(let share): .percentile(share)
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
    let (type, whole) = (image.sampleType, image.sampleRange)
    guard type != .byte,
      ["grey16", "rgb16", "b-w", "srgb", "rgb", "multiband"].contains(image.interpretation)
    else { return image }
    let colours = image.bands - (image.hasAlpha ? 1 : 0)
    var range: (least: Double, greatest: Double)
    switch (options.window, whole) {
    case (.range(let low, let high), _): range = try ends(low, high, colours, open)
    case (.full, _) where image.declaredWhite != nil, (nil, _) where image.declaredWhite != nil:
      range = (0, image.declaredWhite ?? 0)
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
    // Of a picture of one value the range is what its type and its alpha have.
    if let whole, image.hasDeclaredBits || image.hasAlpha, range.greatest <= range.least {
      range = (whole.lowerBound, whole.upperBound)
    }
    // What 16 bits hold anyway, or a picture of one value.
    if type == .unsigned16, range == (0, 65535) || range.greatest <= range.least { return image }
    guard range.greatest > range.least, (range.greatest - range.least).isFinite else { return image }
    steps.append("values from \(text(range.least)) to \(text(range.greatest)) spread from black to white")
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
