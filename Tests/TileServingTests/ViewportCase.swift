import TileGeometry
import ZigguratHTTPMessages
import ZigguratTileProtocols
import ZigguratTileServing

/// One line of Tests/Fixtures/viewport-cases.json, which holds this geometry and the viewer's together.
struct ViewportCase: Codable, Equatable {
  var image: ImageShape
  var query: Query
  var answer: Answer

  struct ImageShape: Codable, Equatable {
    var width: Int
    var height: Int
    var tileSize: Int
  }

  /// The parameters by the names they have in a URL; `center` and `anchor` as two numbers.
  struct Query: Codable, Equatable {
    var width: Double
    var height: Double
    var scale: Double?
    var x: Double?
    var y: Double?
    var fit: String?
    var center: [Double]?
    var anchor: [Double]?
    var zoom: Double?
    var minScale: Double?
    var maxScale: Double?
    var clamp: Bool?
    var rotation: Double?
    var flip: Bool?
    var dpr: Double?
    var buffer: Int?
    var fallback: Bool?
  }

  struct Box: Codable, Equatable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    init(_ rect: Rect) { (x, y, width, height) = (rect.x, rect.y, rect.width, rect.height) }

    init(_ rect: PixelRect) {
      (x, y, width, height) = (Double(rect.x), Double(rect.y), Double(rect.width), Double(rect.height))
    }
  }

  struct Answer: Codable, Equatable {
    var level: Int
    var levelScale: Double
    var viewport: Window
    var tiles: [Tile]
  }

  struct Window: Codable, Equatable {
    var scale: Double
    var x: Double
    var y: Double
    var minScale: Double
    var maxScale: Double
    /// Null where nothing of the image is seen.
    var visible: Box?

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(scale, forKey: .scale)
      try container.encode(x, forKey: .x)
      try container.encode(y, forKey: .y)
      try container.encode(minScale, forKey: .minScale)
      try container.encode(maxScale, forKey: .maxScale)
      // `encodeIfPresent` would leave the key out.
      try container.encode(visible, forKey: .visible)
    }
  }

  struct Tile: Codable, Equatable {
    var level: Int
    var column: Int
    var row: Int
    var source: Box
    var target: Box
    var prefetch: Bool
  }
}

extension ViewportCase {
  /// Asks the server's own code.
  init(_ image: ImageShape, _ query: Query) throws {
    let pyramid = Pyramid(
      imageSize: PixelSize(width: image.width, height: image.height)!, tileSize: image.tileSize)!
    let parsed = try ViewportQuery(query.parameters)
    let (viewport, limits) = parsed.viewport(on: pyramid.imageSize)
    let coverage = Coverage(
      pyramid: pyramid, viewport: viewport, devicePixelRatio: parsed.devicePixelRatio)
    let tiles = (parsed.fallback ? coverage.fallbackTiles() : []) + coverage.tiles(margin: parsed.buffer)
    self.image = image
    self.query = query
    answer = Answer(
      level: coverage.level, levelScale: pyramid.scale(ofLevel: coverage.level),
      viewport: Window(
        scale: viewport.scale, x: viewport.x, y: viewport.y, minScale: limits.minimum,
        maxScale: limits.maximum, visible: coverage.visible.map { Box($0) }),
      tiles: tiles.map {
        Tile(
          level: $0.address.level, column: $0.address.column, row: $0.address.row, source: Box($0.source),
          target: Box($0.target), prefetch: $0.isPrefetch)
      })
  }
}

extension ViewportCase.Query {
  init(_ width: Double, _ height: Double, _ change: (inout Self) -> Void = { _ in }) {
    self.width = width
    self.height = height
    change(&self)
  }

  /// As they stand in a URL.
  var parameters: [(name: String, value: String)] {
    var list = [(name: "width", value: "\(width)"), (name: "height", value: "\(height)")]
    func add(_ name: String, _ value: (some CustomStringConvertible)?) {
      if let value { list.append((name, value.description)) }
    }
    add("scale", scale)
    add("x", x)
    add("y", y)
    add("fit", fit)
    add("center", center.map { "\($0[0]),\($0[1])" })
    add("anchor", anchor.map { "\($0[0]),\($0[1])" })
    add("zoom", zoom)
    add("minScale", minScale)
    add("maxScale", maxScale)
    add("clamp", clamp)
    add("rotation", rotation)
    add("flip", flip)
    add("dpr", dpr)
    add("buffer", buffer)
    add("fallback", fallback)
    return list
  }
}
