import HTTPMessages
package import TileGeometry

/// A viewport query from outside: `width=1280&height=800&scale=0.25&x=300&y=200`, checked once.
package struct ViewportQuery: Hashable, Sendable {
  package var width = 0.0
  package var height = 0.0
  package var scale: Double?
  package var x: Double?
  package var y: Double?
  package var fit: Fit?
  /// Image space.
  package var center: Point?
  /// Viewport space.
  package var anchor: Point?
  package var zoom = 1.0
  package var minScale: Double?
  package var maxScale: Double?
  package var clamp = false
  package var turn = Turn.none
  package var devicePixelRatio = 1.0
  package var margin = 0
  package var fallback = false
  /// Also the one tile that shows the whole image, in front of the others.
  package var overview = false
  /// The image's own description goes into the answer.
  package var describe = false
  package var scheme = TileScheme.deepZoom

  /// A parameter that cannot be used: its name, its value and what it takes.
  package struct Refusal: Error, Hashable, CustomStringConvertible {
    package let parameter: String
    package let value: String?
    package let allowed: String

    /// Of a parameter that there is not.
    fileprivate static func unknown(_ name: String) -> Refusal {
      Refusal(parameter: name, value: nil, allowed: UnknownParameter(name, besides: Values.known).description)
    }

    package var description: String {
      if value == nil, !Values.known.contains(parameter) { return allowed }
      if let value { return "\(parameter) is '\(value)'; it takes \(allowed)" }
      return "\(parameter) is missing; it takes \(allowed)"
    }
  }

  /// - Parameters:
  ///   - parameters: decoded names and values in order, each at most once; `g`, which is the cache's, is passed over.
  ///   - sideLimit: CSS pixels that width and height may have.
  package init(
    _ parameters: [(name: String, value: String)], sideLimit: Int = 32768
  ) throws(Refusal) {
    var values = Values()
    for (name, value) in parameters { try values.add(name, value) }
    let side = 1.0...Double(sideLimit)
    width = try values.required("width", side)
    height = try values.required("height", side)
    scale = try values.number("scale", 1e-12...1e6)
    x = try values.number("x", -1e15...1e15)
    y = try values.number("y", -1e15...1e15)
    fit = try values.choice("fit", Fit.allCases.map { ($0.rawValue, $0) })
    center = try values.point("center", -1e15...1e15)
    anchor = try values.point("anchor", -1e9...1e9)
    zoom = try values.number("zoom", 1e-9...1e9) ?? 1
    minScale = try values.number("minScale", 1e-12...1e6)
    maxScale = try values.number("maxScale", 1e-12...1e6)
    if let minScale, let maxScale, minScale > maxScale {
      throw Refusal(
        parameter: "minScale", value: values["minScale"], allowed: "at most maxScale, which is \(maxScale)")
    }
    clamp = try values.flag("clamp")
    turn = Turn(degrees: try values.number("rotation", -1e6...1e6) ?? 0, isFlipped: try values.flag("flip"))
    devicePixelRatio = try values.number("dpr", 0.1...8) ?? 1
    margin = Int(try values.wholeNumber("margin", 0...64) ?? 0)
    fallback = try values.flag("fallback")
    overview = try values.flag("overview")
    describe = try values.flag("describe")
    scheme = try values.choice("scheme", TileScheme.allCases.map { ($0.rawValue, $0) }) ?? .deepZoom
  }

  /// Where the query's window stands on an image.
  ///
  /// A scale that is given counts as it is. `minScale` and `maxScale` limit every scale when they are
  /// given; their defaults limit what `zoom` reaches and, with `clamp`, a given scale, but never `fit`.
  /// Where a limit changes the scale, the image point at the anchor stays (the middle without one).
  package func viewport(on image: PixelSize) -> (viewport: Viewport, limits: ScaleLimits) {
    let standard = ScaleLimits(containing: image, width: width, height: height, turn: turn)
    let limits = limits(standard)
    var viewport = Viewport(
      fitting: image, fit ?? .contain, width: width, height: height, turn: turn)
    if let scale {
      viewport.scale = scale
      (viewport.x, viewport.y) = (0, 0)
      if fit != nil {
        viewport = viewport.centered(on: Point(x: Double(image.width) / 2, y: Double(image.height) / 2))
      }
    }
    if let center { viewport = viewport.centered(on: center) }
    if let x { viewport.x = x }
    if let y { viewport.y = y }
    let isLimited = minScale != nil || maxScale != nil || zoom != 1 || (clamp && scale != nil)
    let wanted = viewport.scale * zoom
    viewport = viewport.scaled(to: isLimited ? limits.limit(wanted) : wanted, about: anchor)
    return (clamp ? viewport.clamped(to: image) : viewport, limits)
  }

  private func limits(_ standard: ScaleLimits) -> ScaleLimits {
    let low = minScale ?? min(standard.minimum, maxScale ?? standard.minimum)
    let high = maxScale ?? max(standard.maximum, low)
    return ScaleLimits(minimum: low, maximum: high)!
  }
}

extension ViewportQuery {
  package static var parameterNames: Set<String> { Set(Values.known) }

  /// The parameters by name, each at most once.
  private struct Values {
    static let known = [
      "width", "height", "scale", "x", "y", "fit", "center", "anchor", "zoom", "minScale", "maxScale",
      "clamp",
      "rotation", "flip", "dpr", "margin", "fallback", "overview", "describe", "scheme",
    ]
    // A handful: looking through them is faster than hashing them.
    private var values: [(name: String, value: String)] = []

    mutating func add(_ name: String, _ value: String) throws(Refusal) {
      guard Self.known.contains(name) else {
        guard name == "g" else { throw .unknown(name) }
        return
      }
      guard self[name] == nil else {
        throw Refusal(parameter: name, value: value, allowed: "one value, but it is given twice")
      }
      values.append((name, value))
    }

    subscript(name: String) -> String? { values.first { $0.name == name }?.value }

    func required(_ name: String, _ range: ClosedRange<Double>) throws(Refusal) -> Double {
      if let number = try number(name, range) { return number }
      throw Refusal(parameter: name, value: nil, allowed: Self.words(range))
    }

    func number(_ name: String, _ range: ClosedRange<Double>) throws(Refusal) -> Double? {
      guard let text = self[name] else { return nil }
      guard let number = Self.parse(text), range.contains(number) else {
        throw Refusal(parameter: name, value: Self.short(text), allowed: Self.words(range))
      }
      return number
    }

    func wholeNumber(_ name: String, _ range: ClosedRange<Int>) throws(Refusal) -> Int? {
      guard let text = self[name] else { return nil }
      guard text.utf8.count < 12, let number = Int(text), range.contains(number) else {
        throw Refusal(
          parameter: name, value: Self.short(text),
          allowed: "a whole number from \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }

    func point(_ name: String, _ range: ClosedRange<Double>) throws(Refusal) -> Point? {
      guard let text = self[name] else { return nil }
      let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Self.parse(String($0)) }
      guard parts.count == 2, let x = parts[0], let y = parts[1], range.contains(x), range.contains(y) else {
        throw Refusal(
          parameter: name, value: Self.short(text),
          allowed: "two numbers with a comma between, each \(Self.words(range).dropFirst(9))")
      }
      return Point(x: x, y: y)
    }

    func flag(_ name: String) throws(Refusal) -> Bool {
      try choice(name, [("true", true), ("false", false), ("1", true), ("0", false)]) ?? false
    }

    func choice<Value>(_ name: String, _ choices: [(String, Value)]) throws(Refusal) -> Value? {
      guard let text = self[name] else { return nil }
      if let found = choices.first(where: { $0.0 == text }) { return found.1 }
      throw Refusal(
        parameter: name, value: Self.short(text), allowed: choices.map(\.0).joined(separator: ", "))
    }

    /// Decimal digits with sign, point and exponent; Swift alone would also take `0x1p3`, `inf` and `nan`.
    private static func parse(_ text: String) -> Double? {
      guard !text.isEmpty, text.utf8.count <= 40,
        text.utf8.allSatisfy({ (0x30...0x39).contains($0) || [0x2b, 0x2d, 0x2e, 0x45, 0x65].contains($0) }),
        let number = Double(text), number.isFinite
      else { return nil }
      return number
    }

    private static func words(_ range: ClosedRange<Double>) -> String {
      "a number from \(text(range.lowerBound)) to \(text(range.upperBound))"
    }

    private static func text(_ number: Double) -> String {
      Int(exactly: number).map(String.init) ?? String(number)
    }

    private static func short(_ text: String) -> String { text.count > 60 ? text.prefix(57) + "…" : text }
  }
}
