import Foundation
import Testing
import TileGeometry

/// The JSON of the value types, which the HTTP API's answers and the viewer's values share.
struct GeometryCodingTests {
  private static func decode<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try decoder.decode(Value.self, from: Data(json.utf8))
  }

  private static func check<Value: Codable & Equatable>(_ value: Value, _ json: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let text = String(decoding: try encoder.encode(value), as: UTF8.self)
    #expect(text == json)
    #expect(try decode(Value.self, text) == value)
  }

  @Test("each value type has the JSON that is documented, and decodes it")
  func forms() throws {
    try Self.check(PixelSize(width: 3, height: 4)!, #"{"height":4,"width":3}"#)
    try Self.check(PixelRect(x: -1, y: 2, width: 3, height: 4), #"{"height":4,"width":3,"x":-1,"y":2}"#)
    try Self.check(Point(x: 1.5, y: -2), #"{"x":1.5,"y":-2}"#)
    try Self.check(Rect(x: 1, y: 2.5, width: 3, height: 0), #"{"height":0,"width":3,"x":1,"y":2.5}"#)
    try Self.check(
      Insets(top: 1, left: -2, bottom: 3, right: 4), #"{"bottom":3,"left":-2,"right":4,"top":1}"#)
    try Self.check(TileAddress(level: 5, column: 6, row: 7), #"{"column":6,"level":5,"row":7}"#)
    try Self.check(Rotation(degrees: 90, isFlipped: true), #"{"flip":true,"rotation":90}"#)
    try Self.check(ScaleLimits(minimum: 0.5, maximum: 2)!, #"{"maximum":2,"minimum":0.5}"#)
    try Self.check(
      Pyramid(imageSize: PixelSize(width: 30, height: 20)!, tileSize: 8, overlap: 1)!,
      #"{"height":20,"overlap":1,"tileSize":8,"width":30}"#)
    try Self.check(
      PermittedOffsets(x: -1...2, y: 3...3), #"{"x":{"high":2,"low":-1},"y":{"high":3,"low":3}}"#)
    try Self.check(
      Viewport(width: 300, height: 200, scale: 0.5, x: -1, y: 2, rotation: Rotation(degrees: 30)),
      #"{"flip":false,"height":200,"rotation":30,"scale":0.5,"width":300,"x":-1,"y":2}"#)
    try Self.check(Fit.allCases, #"["contain","cover","width","none"]"#)
    let pyramid = Pyramid(imageSize: PixelSize(width: 8, height: 8)!, tileSize: 8)!
    let viewport = Viewport(width: 4, height: 8, scale: 1, x: 0, y: 0)
    try Self.check(
      Coverage(pyramid: pyramid, viewport: viewport).tiles(),
      #"[{"column":0,"level":3,"prefetch":false,"row":0,"source":{"height":8,"width":8,"x":0,"y":0},"#
        + #""target":{"height":8,"width":8,"x":0,"y":0}}]"#)
  }

  @Test("absent members have their defaults")
  func defaults() throws {
    #expect(try Self.decode(Insets.self, "{}") == .zero)
    #expect(try Self.decode(Rotation.self, "{}") == .none)
    let viewport = try Self.decode(Viewport.self, #"{"width":1,"height":2,"scale":3,"x":4,"y":5}"#)
    #expect(viewport == Viewport(width: 1, height: 2, scale: 3, x: 4, y: 5))
    let pyramid = try Self.decode(Pyramid.self, #"{"width":9,"height":9,"tileSize":4}"#)
    #expect(pyramid == Pyramid(imageSize: PixelSize(width: 9, height: 9)!, tileSize: 4))
  }

  @Test("values out of range throw")
  func invalid() {
    func refused<Value: Decodable>(_ type: Value.Type, _ json: String) {
      #expect(throws: DecodingError.self, "\(type): \(json)") { try Self.decode(type, json) }
    }
    refused(PixelSize.self, #"{"width":0,"height":1}"#)
    refused(PixelSize.self, #"{"width":-9223372036854775808,"height":1}"#)
    refused(PixelSize.self, #"{"width":9223372036854775808,"height":1}"#)
    refused(PixelSize.self, #"{"width":1.5,"height":1}"#)
    refused(PixelRect.self, #"{"x":0,"y":0,"width":-1,"height":1}"#)
    refused(PixelRect.self, #"{"x":9223372036854775807,"y":0,"width":1,"height":1}"#)
    refused(Point.self, #"{"x":"nan","y":1}"#)
    refused(Point.self, #"{"x":1}"#)
    refused(Rect.self, #"{"x":0,"y":0,"width":-1,"height":1}"#)
    refused(Rect.self, #"{"x":0,"y":"inf","width":1,"height":1}"#)
    refused(Insets.self, #"{"top":"nan"}"#)
    refused(Insets.self, #"{"left":1e10}"#)
    refused(TileAddress.self, #"{"level":-1,"column":0,"row":0}"#)
    refused(Rotation.self, #"{"rotation":"-inf"}"#)
    refused(ScaleLimits.self, #"{"minimum":0,"maximum":1}"#)
    refused(ScaleLimits.self, #"{"minimum":2,"maximum":1}"#)
    refused(PermittedOffsets.self, #"{"x":{"low":2,"high":1},"y":{"low":0,"high":1}}"#)
    refused(PermittedOffsets.self, #"{"x":{"low":"nan","high":1},"y":{"low":0,"high":1}}"#)
    refused(Pyramid.self, #"{"width":9,"height":9,"tileSize":0}"#)
    refused(Pyramid.self, #"{"width":9,"height":9,"tileSize":4,"overlap":4}"#)
    refused(Fit.self, #""stretch""#)
    for (name, value) in [
      ("width", "0"), ("width", "-1"), ("height", "1e30"), ("scale", "0"), ("scale", "\"nan\""),
      ("scale", "1e99"),
      ("x", "\"inf\""), ("y", "1e300"), ("rotation", "\"nan\""),
    ] {
      var values = ["width": "1", "height": "1", "scale": "1", "x": "0", "y": "0", "rotation": "0"]
      values[name] = value
      refused(Viewport.self, "{" + values.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}")
    }
  }
}
