import TileStorage
import ZigguratHTTPMessages
import ZigguratTileProtocols

enum TilesCommand: Command {
  static let name = "tiles"
  static let usage = "ARCHIVE --viewport 1280x800 [--scale 0.25] [--offset 300,200]"
  static let summary = "List the tiles that cover a viewport, as JSON, like the server's viewport query."
  static let options = [
    Option("viewport", "WxH", help: "Size of the viewport in CSS pixels"),
    Option("scale", "S", default: "the image fits", help: "Scale in CSS pixels per image pixel"),
    Option("offset", "X,Y", help: "Position of the viewport's corner in the scaled image"),
    Option("fit", "MODE", help: "Fit of the image: contain, cover, width or none"),
    Option("center", "X,Y", help: "Image point in the centre, instead of --offset"),
    Option("anchor", "X,Y", help: "Viewport point that --zoom keeps in its place"),
    Option("zoom", "FACTOR", help: "Zoom about the anchor"),
    Option("min-scale", "S", help: "Minimum scale"),
    Option("max-scale", "S", help: "Maximum scale"),
    Option("clamp", help: "Leave no gap at the edges, and centre a smaller image"),
    Option("rotation", "DEGREES", help: "Rotation clockwise about the viewport's centre"),
    Option("flip", help: "Mirror left to right, before the rotation"),
    Option("dpr", "N", default: "1", help: "Device pixels per CSS pixel"),
    Option("buffer", "N", default: "0", was: "margin", help: "Rings of tiles beyond the edge"),
    Option("fallback", help: "Include the coarser tiles of the same area"),
  ]

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    let path = try arguments.onlyOperand("archive")
    let query = try query(arguments)
    let archive: TileArchive
    do {
      archive = try TileArchive(path: path, within: nil)
    } catch {
      Output.error(error.description)
      return .someFailed
    }
    do {
      let answer = try ViewportResponse(query, id: archive.name, archive: archive)
      Output.result(String(decoding: answer.json, as: UTF8.self) + "\n")
      return .success
    } catch { throw .outside(path, error.description) }
  }

  /// Returns the query, with the same parameters and checks as over HTTP.
  private static func query(_ arguments: Arguments) throws(UsageError) -> ViewportQuery {
    let window = try arguments.required("viewport")
    let sides = window.split(separator: "x", omittingEmptySubsequences: false).map(String.init)
    guard sides.count == 2 else {
      throw arguments.invalid("viewport", expected: "WIDTHxHEIGHT, such as 1280x800")
    }
    var parameters = [(name: "width", value: sides[0]), (name: "height", value: sides[1])]
    if let offset = arguments.string("offset") {
      let parts = offset.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2 else { throw arguments.invalid("offset", expected: "X,Y, such as 300,200") }
      if arguments.string("center") != nil {
        throw .conflict(arguments.spelled("center"), arguments.spelled("offset"))
      }
      parameters += [("x", parts[0]), ("y", parts[1])]
    }
    let names = [
      "scale": "scale", "fit": "fit", "center": "center", "anchor": "anchor", "zoom": "zoom",
      "min-scale": "minScale", "max-scale": "maxScale", "rotation": "rotation", "dpr": "dpr",
      "buffer": "buffer",
    ]
    for (option, parameter) in names.sorted(by: { $0.key < $1.key }) {
      if let value = arguments.string(option) { parameters.append((parameter, value)) }
    }
    for flag in ["clamp", "flip", "fallback"] where try arguments.flag(flag) {
      parameters.append((flag, "true"))
    }
    do {
      return try ViewportQuery(parameters)
    } catch {
      guard case .parameter(let name) = error.errors[0].place else { throw .outside("tiles", "\(error)") }
      throw .outside(option(of: name, arguments), error.errors[0].detail)
    }
  }

  /// Returns the option, with its value, for a parameter of the query.
  private static func option(of parameter: String, _ arguments: Arguments) -> String {
    let name =
      switch parameter {
      case "width", "height": "viewport"
      case "x", "y": "offset"
      case "minScale": "min-scale"
      case "maxScale": "max-scale"
      default: parameter
      }
    return arguments.spelled(name) + (arguments.string(name).map { " '\($0)'" } ?? "")
  }
}
