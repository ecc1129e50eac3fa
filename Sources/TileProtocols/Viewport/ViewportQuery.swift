package import TileGeometry
package import ZigguratHTTPMessages

/// A client's viewport query, validated once: `width=1280&height=800&scale=0.25&x=300&y=200`.
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
  package var rotation = Rotation.none
  package var devicePixelRatio = 1.0
  /// Rings of tiles beyond the edge of the viewport.
  package var buffer = 0
  /// The name that the client used for `buffer`, perhaps a former one.
  private(set) var bufferName = "buffer"
  package var fallback = false
  package var include: Set<Included> = []
  package var scheme = TileScheme.deepZoom

  /// A part of an answer besides the tiles of the viewport.
  package enum Included: String, CaseIterable, Sendable {
    /// The one tile that shows the whole image, before the others.
    case overview
    /// The image's own description.
    case description
  }

  /// The invalid parameters: name, value, and the valid values of each.
  package struct ValidationError: Error, Hashable, CustomStringConvertible {
    package let errors: [InvalidInput]

    init(parameter: String, value: String?, allowed: String) {
      self.init([Self.error(parameter, value, allowed)])
    }

    fileprivate init(_ errors: [InvalidInput]) { self.errors = errors }

    fileprivate static func error(_ parameter: String, _ value: String?, _ allowed: String) -> InvalidInput {
      let problem = value.map { "is '\($0)'" } ?? "is missing"
      return InvalidInput(parameter: parameter, "\(parameter) \(problem); it takes \(allowed)")
    }

    package var description: String { errors.map(\.detail).joined(separator: "; ") }
  }

  /// - Parameter parameters: decoded names and values in order, each at most once; `v`, which is for caches, is
  ///   ignored.
  package init(_ parameters: [(name: String, value: String)]) throws(ValidationError) {
    var values = Values()
    for (name, value) in parameters { values.add(name, value) }
    width = values.required("width", 1...32_768)
    height = values.required("height", 1...32_768)
    scale = values.number("scale", 1e-12...1e6)
    x = values.number("x", -1e15...1e15)
    y = values.number("y", -1e15...1e15)
    fit = values.choice("fit", Fit.allCases.map { ($0.rawValue, $0) })
    center = values.point("center", -1e15...1e15)
    values.refuse("center", besides: ["x", "y"])
    anchor = values.point("anchor", -1e9...1e9)
    zoom = values.number("zoom", 1e-9...1e9) ?? 1
    minScale = values.number("minScale", 1e-12...1e6)
    maxScale = values.number("maxScale", 1e-12...1e6)
    if let minScale, let maxScale, minScale > maxScale {
      values.refuse("minScale", values["minScale"], "at most maxScale, which is \(maxScale)")
    }
    clamp = values.flag("clamp")
    rotation = Rotation(degrees: values.number("rotation", -1e6...1e6) ?? 0, isFlipped: values.flag("flip"))
    devicePixelRatio = values.number("dpr", 0.1...8) ?? 1
    buffer = Int(values.wholeNumber("buffer", 0...64) ?? 0)
    bufferName = values.sentName("buffer")
    fallback = values.flag("fallback")
    include = values.included()
    scheme = values.choice("scheme", TileScheme.allCases.map { ($0.rawValue, $0) }) ?? .deepZoom
    if !values.errors.isEmpty { throw ValidationError(values.errors) }
  }

  /// Returns the viewport that the query asks for on an image, and the limits of its scale. The parameters apply in
  /// this order:
  ///
  /// 1. `fit` sets scale and position. `scale` replaces the scale. With `scale` and without `fit`, the position is 0,
  ///    0.
  /// 2. `center`, or each of `x` and `y`, replaces the position.
  /// 3. `zoom` multiplies the scale.
  /// 4. `minScale` and `maxScale` limit the scale. Their defaults only keep `zoom` from leaving the usual range of a
  ///    viewer, or from moving away from it if the scale is outside.
  /// 5. The image point at `anchor` stays in place while `zoom` and limits change the scale.
  /// 6. `clamp` moves the viewport to the nearest offset without a gap.
  package func viewport(on image: PixelSize) -> (viewport: Viewport, limits: ScaleLimits) {
    let limits = limits(ScaleLimits(containing: image, width: width, height: height, rotation: rotation))
    var viewport = Viewport(
      fitting: image, fit ?? .contain, width: width, height: height, rotation: rotation)
    if let scale {
      viewport.scale = scale
      viewport.x = 0
      viewport.y = 0
      if fit != nil {
        viewport = viewport.centered(on: Point(x: Double(image.width) / 2, y: Double(image.height) / 2))
      }
    }
    if let center { viewport = viewport.centered(on: center) }
    if let x { viewport.x = x }
    if let y { viewport.y = y }
    let low = minScale ?? min(limits.minimum, viewport.scale)
    let high = maxScale ?? max(limits.maximum, viewport.scale)
    let wanted = viewport.scale * zoom
    viewport = viewport.scaled(to: min(max(wanted, low), high), about: anchor)
    return (clamp ? viewport.clamped(to: image) : viewport, limits)
  }

  private func limits(_ standard: ScaleLimits) -> ScaleLimits {
    let low = minScale ?? min(standard.minimum, maxScale ?? standard.minimum)
    let high = maxScale ?? max(standard.maximum, low)
    return ScaleLimits(minimum: low, maximum: high)!
  }
}

extension ViewportQuery {
  /// The names of all parameters, with that of the generation and those of version 0.1.
  package static var parameterNames: Set<String> {
    let former = DeprecatedNames.parameters.filter { Values.accepted.contains($0.value) }.keys
    return Set(Values.accepted).union(former).union(DeprecatedNames.included.map(\.key))
  }

  /// The parameters by name, each at most once.
  private struct Values {
    static let known = [
      "width", "height", "scale", "x", "y", "fit", "center", "anchor", "zoom", "minScale", "maxScale",
      "clamp",
      "rotation", "flip", "dpr", "buffer", "fallback", "include", "scheme",
    ]
    /// The known parameters and that of the generation, which is for caches.
    static let accepted = known + ["v"]
    // There are few: a linear search is faster than hashing.
    private var values: [(name: String, value: String, sentName: String)] = []
    private(set) var errors: [InvalidInput] = []

    /// - Parameter sentName: perhaps a name of version 0.1.
    mutating func add(_ sentName: String, _ value: String) {
      let name = DeprecatedNames.present(sentName, among: Self.accepted)
      guard Self.known.contains(name) || DeprecatedNames.included.contains(where: { $0.key == name }) else {
        if name != "v", errors.count < InvalidInput.maximum {
          errors.append(
            InvalidInput(parameter: name, UnknownParameter(name, besides: Self.known).description))
        }
        return
      }
      guard self[name] == nil else {
        let error = InvalidInput(parameter: sentName, "\(sentName) is given twice")
        // A third repetition is the same error.
        if errors.count < InvalidInput.maximum, !errors.contains(error) { errors.append(error) }
        return
      }
      values.append((name, value, sentName))
    }

    /// - Parameter value: nil if it is missing.
    mutating func refuse(_ name: String, _ value: String?, _ allowed: String) {
      guard errors.count < InvalidInput.maximum else { return }
      let name = sentName(name)
      let value = value.map { $0.count > 60 ? $0.prefix(57) + "…" : $0 }
      errors.append(ValidationError.error(name, value, allowed))
    }

    func sentName(_ name: String) -> String { values.first { $0.name == name }?.sentName ?? name }

    /// Refuses a parameter that is given together with one of `others`.
    mutating func refuse(_ name: String, besides others: [String]) {
      let given = others.filter { self[$0] != nil }
      guard self[name] != nil, !given.isEmpty, errors.count < InvalidInput.maximum else { return }
      let detail = "\(name) cannot be used with \(given.joined(separator: " and "))"
      errors.append(InvalidInput(parameter: name, detail))
    }

    subscript(name: String) -> String? { values.first { $0.name == name }?.value }

    mutating func required(_ name: String, _ range: ClosedRange<Double>) -> Double {
      if self[name] == nil { refuse(name, nil, Self.description(range)) }
      return number(name, range) ?? range.lowerBound
    }

    mutating func number(_ name: String, _ range: ClosedRange<Double>) -> Double? {
      guard let text = self[name] else { return nil }
      if let number = Self.parse(text), range.contains(number) { return number }
      refuse(name, text, Self.description(range))
      return nil
    }

    mutating func wholeNumber(_ name: String, _ range: ClosedRange<Int>) -> Int? {
      guard let text = self[name] else { return nil }
      if text.utf8.count < 12, let number = Int(text), range.contains(number) { return number }
      refuse(name, text, "a whole number from \(range.lowerBound) to \(range.upperBound)")
      return nil
    }

    mutating func point(_ name: String, _ range: ClosedRange<Double>) -> Point? {
      guard let text = self[name] else { return nil }
      let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Self.parse(String($0)) }
      if parts.count == 2, let x = parts[0], let y = parts[1], range.contains(x), range.contains(y) {
        return Point(x: x, y: y)
      }
      refuse(name, text, "two numbers with a comma between, each \(Self.description(range).dropFirst(9))")
      return nil
    }

    mutating func flag(_ name: String) -> Bool {
      choice(name, [("true", true), ("false", false), ("1", true), ("0", false)]) ?? false
    }

    mutating func included() -> Set<Included> {
      var included: Set<Included> = []
      if let text = self["include"] {
        let items = text.split(separator: ",", omittingEmptySubsequences: false).map {
          Included(rawValue: String($0))
        }
        included = Set(items.compactMap(\.self))
        if included.count < items.count {
          let names = Included.allCases.map(\.rawValue).joined(separator: ", ")
          refuse("include", text, "one or more of \(names), each once, with commas between")
        }
      }
      for (name, item) in DeprecatedNames.included where flag(name) {
        if let item = Included(rawValue: item) { included.insert(item) }
      }
      return included
    }

    mutating func choice<Value>(_ name: String, _ choices: @autoclosure () -> [(String, Value)]) -> Value? {
      guard let text = self[name] else { return nil }
      let choices = choices()
      if let found = choices.first(where: { $0.0 == text }) { return found.1 }
      refuse(name, text, choices.map(\.0).joined(separator: ", "))
      return nil
    }

    /// Parses decimal digits with sign, point and exponent; `Double` alone would also accept `0x1p3`, `inf` and `nan`.
    private static func parse(_ text: String) -> Double? {
      guard !text.isEmpty, text.utf8.count <= 40,
        text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.Ee".utf8.contains($0) }),
        let number = Double(text), number.isFinite
      else { return nil }
      return number
    }

    private static func description(_ range: ClosedRange<Double>) -> String {
      "a number from \(text(range.lowerBound)) to \(text(range.upperBound))"
    }

    private static func text(_ number: Double) -> String {
      Int(exactly: number).map(String.init) ?? String(number)
    }
  }
}
