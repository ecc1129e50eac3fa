// Codable conformances and names in text, in the forms of the HTTP API and the viewer. Embedded Swift has no Codable.
// The Unicode tables that string comparison needs would be undefined symbols there.
#if !hasFeature(Embedded)

  extension Fit: RawRepresentable, Codable {
    /// Creates a fit from its name, or `nil` for another text.
    public init?(rawValue: String) {
      guard let fit = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
      self = fit
    }

    /// The name of the fit: `contain`, `cover`, `width` or `none`.
    public var rawValue: String {
      switch self {
      case .contain: "contain"
      case .cover: "cover"
      case .width: "width"
      case .none: "none"
      }
    }
  }

  extension Decoder {
    /// Returns `value`, or throws `DecodingError.dataCorrupted` with a message if it is `nil`.
    fileprivate func valid<Value>(_ value: Value?, _ message: String) throws -> Value {
      guard let value else {
        throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: message))
      }
      return value
    }
  }

  extension PixelSize: Codable {
    private enum CodingKeys: String, CodingKey { case width, height }

    /// Decodes `{"width", "height"}`; throws `DecodingError` unless both are at least 1.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      let (width, height) = try (
        values.decode(Int.self, forKey: .width), values.decode(Int.self, forKey: .height)
      )
      self = try decoder.valid(PixelSize(width: width, height: height), "a side is below 1")
    }

    /// Encodes `{"width", "height"}`.
    public func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(width, forKey: .width)
      try values.encode(height, forKey: .height)
    }
  }

  extension PixelRect: Codable {
    private enum CodingKeys: String, CodingKey { case x, y, width, height }

    /// Decodes `{"x", "y", "width", "height"}`; throws `DecodingError` if a side is negative or an edge exceeds
    /// `Int.max`.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      func value(_ key: CodingKeys) throws -> Int { try values.decode(Int.self, forKey: key) }
      self = try PixelRect(x: value(.x), y: value(.y), width: value(.width), height: value(.height))
      let isValid =
        width >= 0 && height >= 0 && !x.addingReportingOverflow(width).overflow
        && !y.addingReportingOverflow(height).overflow
      _ = try decoder.valid(isValid ? self : nil, "a side is negative, or an edge is too large")
    }

    /// Encodes `{"x", "y", "width", "height"}`.
    public func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(x, forKey: .x)
      try values.encode(y, forKey: .y)
      try values.encode(width, forKey: .width)
      try values.encode(height, forKey: .height)
    }
  }

  extension Point: Codable {
    private enum CodingKeys: String, CodingKey { case x, y }

    /// Decodes `{"x", "y"}`; throws `DecodingError` unless both are finite.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      let point = try Point(
        x: values.decode(Double.self, forKey: .x), y: values.decode(Double.self, forKey: .y))
      self = try decoder.valid(point.isFinite ? point : nil, "a coordinate is not finite")
    }

    /// Encodes `{"x", "y"}`.
    public func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(x, forKey: .x)
      try values.encode(y, forKey: .y)
    }
  }

  extension Rect: Codable {
    private enum CodingKeys: String, CodingKey { case x, y, width, height }

    /// Decodes `{"x", "y", "width", "height"}`; throws `DecodingError` unless all are finite and no side is negative.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      func value(_ key: CodingKeys) throws -> Double { try values.decode(Double.self, forKey: key) }
      let rect = try Rect(x: value(.x), y: value(.y), width: value(.width), height: value(.height))
      let isValid = rect.isFinite && rect.width >= 0 && rect.height >= 0
      self = try decoder.valid(isValid ? rect : nil, "a value is not finite, or a side is negative")
    }

    /// Encodes `{"x", "y", "width", "height"}`.
    public func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(x, forKey: .x)
      try values.encode(y, forKey: .y)
      try values.encode(width, forKey: .width)
      try values.encode(height, forKey: .height)
    }
  }

  extension Insets: Codable {
    private enum CodingKeys: String, CodingKey { case top, left, bottom, right }

    /// Decodes `{"top", "left", "bottom", "right"}`, each 0 if absent; throws `DecodingError` for a value outside
    /// ±2^32.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      let limit = Viewport.sides.upperBound
      func value(_ key: CodingKeys) throws -> Double {
        let value = try values.decodeIfPresent(Double.self, forKey: key) ?? 0
        return try decoder.valid(value.magnitude <= limit ? value : nil, "an inset is out of range")
      }
      try self.init(top: value(.top), left: value(.left), bottom: value(.bottom), right: value(.right))
    }

    /// Encodes `{"top", "left", "bottom", "right"}`.
    public func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(top, forKey: .top)
      try values.encode(left, forKey: .left)
      try values.encode(bottom, forKey: .bottom)
      try values.encode(right, forKey: .right)
    }
  }

  extension TileAddress: Codable {
    private enum CodingKeys: String, CodingKey { case level, column, row }

    /// Decodes `{"level", "column", "row"}`; throws `DecodingError` if one is negative.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      func value(_ key: CodingKeys) throws -> Int {
        let value = try values.decode(Int.self, forKey: key)
        return try decoder.valid(value >= 0 ? value : nil, "a level, column or row is negative")
      }
      try self.init(level: value(.level), column: value(.column), row: value(.row))
    }

    /// Encodes `{"level", "column", "row"}`.
    public func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(level, forKey: .level)
      try values.encode(column, forKey: .column)
      try values.encode(row, forKey: .row)
    }
  }

  extension Pyramid: Codable {
    private enum CodingKeys: String, CodingKey { case width, height, tileSize, overlap }

    /// Decodes `{"width", "height", "tileSize", "overlap"}`, the overlap 0 if absent; throws `DecodingError` if there
    /// is no such pyramid.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      let pyramid = try Pyramid(
        imageSize: PixelSize(from: decoder), tileSize: values.decode(Int.self, forKey: .tileSize),
        overlap: values.decodeIfPresent(Int.self, forKey: .overlap) ?? 0)
      self = try decoder.valid(pyramid, "there is no pyramid of this size, tile size and overlap")
    }

    /// Encodes `{"width", "height", "tileSize", "overlap"}`.
    public func encode(to encoder: any Encoder) throws {
      try imageSize.encode(to: encoder)
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(tileSize, forKey: .tileSize)
      try values.encode(overlap, forKey: .overlap)
    }
  }

  extension Rotation: Codable {
    private enum CodingKeys: String, CodingKey { case rotation, flip }

    /// Decodes `{"rotation", "flip"}`, 0° and `false` if absent; throws `DecodingError` unless the angle is finite.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      let degrees = try values.decodeIfPresent(Double.self, forKey: .rotation) ?? 0
      let isFlipped = try values.decodeIfPresent(Bool.self, forKey: .flip) ?? false
      self = try decoder.valid(
        degrees.isFinite ? Rotation(degrees: degrees, isFlipped: isFlipped) : nil, "the angle is not finite")
    }

    /// Encodes `{"rotation", "flip"}`: degrees clockwise, and whether the picture is mirrored first.
    public func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(degrees, forKey: .rotation)
      try values.encode(isFlipped, forKey: .flip)
    }
  }

  extension Viewport: Codable {
    private enum CodingKeys: String, CodingKey { case width, height, scale, x, y }

    /// Decodes `{"width", "height", "scale", "x", "y", "rotation", "flip"}`, like the HTTP API's responses; the last
    /// two may be absent. Throws `DecodingError` for a value out of range: nothing is clamped.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      func value(_ key: CodingKeys, _ range: ClosedRange<Double>) throws -> Double {
        let value = try values.decode(Double.self, forKey: key)
        return try decoder.valid(range.contains(value) ? value : nil, "\(key.rawValue) is out of range")
      }
      try self.init(
        width: value(.width, Self.sides), height: value(.height, Self.sides),
        scale: value(.scale, Self.scales), x: value(.x, Self.offsets), y: value(.y, Self.offsets),
        rotation: Rotation(from: decoder))
    }

    /// Encodes `{"width", "height", "scale", "x", "y", "rotation", "flip"}`.
    public func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(width, forKey: .width)
      try values.encode(height, forKey: .height)
      try values.encode(scale, forKey: .scale)
      try values.encode(x, forKey: .x)
      try values.encode(y, forKey: .y)
      try rotation.encode(to: encoder)
    }
  }

  extension ScaleLimits: Codable {
    private enum CodingKeys: String, CodingKey { case minimum, maximum }

    /// Decodes `{"minimum", "maximum"}`; throws `DecodingError` unless they are in order and within
    /// `Viewport.scales`.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      let limits = try ScaleLimits(
        minimum: values.decode(Double.self, forKey: .minimum),
        maximum: values.decode(Double.self, forKey: .maximum))
      self = try decoder.valid(limits, "the scales are out of order or out of range")
    }

    /// Encodes `{"minimum", "maximum"}`.
    public func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(minimum, forKey: .minimum)
      try values.encode(maximum, forKey: .maximum)
    }
  }

  extension PermittedOffsets: Codable {
    private enum CodingKeys: String, CodingKey { case x, y }
    private enum BoundKeys: String, CodingKey { case low, high }

    /// Decodes `{"x": {"low", "high"}, "y": {"low", "high"}}`; throws `DecodingError` unless they are in order and
    /// within `Viewport.offsets`.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      func range(_ key: CodingKeys) throws -> ClosedRange<Double> {
        let bounds = try values.nestedContainer(keyedBy: BoundKeys.self, forKey: key)
        let low = try bounds.decode(Double.self, forKey: .low)
        let high = try bounds.decode(Double.self, forKey: .high)
        let isValid = low <= high && Viewport.offsets.contains(low) && Viewport.offsets.contains(high)
        return try decoder.valid(isValid ? low...high : nil, "the offsets are out of order or out of range")
      }
      try self.init(x: range(.x), y: range(.y))
    }

    /// Encodes `{"x": {"low", "high"}, "y": {"low", "high"}}`.
    public func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      for (key, range) in [(CodingKeys.x, x), (.y, y)] {
        var bounds = values.nestedContainer(keyedBy: BoundKeys.self, forKey: key)
        try bounds.encode(range.lowerBound, forKey: .low)
        try bounds.encode(range.upperBound, forKey: .high)
      }
    }
  }

  extension CoveredTile: Codable {
    private enum CodingKeys: String, CodingKey { case source, target, prefetch }

    /// Decodes `{"level", "column", "row", "source", "target", "prefetch"}`, like the HTTP API's responses; throws
    /// `DecodingError` as its parts do.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      try self.init(
        address: TileAddress(from: decoder), source: values.decode(PixelRect.self, forKey: .source),
        target: values.decode(Rect.self, forKey: .target),
        isPrefetch: values.decode(Bool.self, forKey: .prefetch))
    }

    /// Encodes `{"level", "column", "row", "source", "target", "prefetch"}`.
    public func encode(to encoder: any Encoder) throws {
      try address.encode(to: encoder)
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(source, forKey: .source)
      try values.encode(target, forKey: .target)
      try values.encode(isPrefetch, forKey: .prefetch)
    }
  }

#endif
