import HTTPMessages
import TileProtocols
import TileStorage

enum TilesCommand: Command {
  static let name = "tiles"
  static let usage = "ARCHIVE --viewport 1280x800 [--scale 0.25] [--offset 300,200]"
  static let summary = "Which tiles cover a viewport: the server's answer, offline, as JSON."
  static let options = [
    Option("viewport", "WxH", help: "the window, CSS pixels"),
    Option("scale", "S", help: "CSS pixels per image pixel (default: the image fits)"),
    Option("offset", "X,Y", help: "where the window's corner stands in the scaled image"),
    Option("fit", "MODE", help: "contain, cover, width or none"),
    Option("center", "X,Y", help: "image point in the middle, instead of --offset"),
    Option("anchor", "X,Y", help: "window point that --zoom keeps in its place"),
    Option("zoom", "FACTOR", help: "zoom about the anchor"),
    Option("min-scale", "S", help: "the least scale"),
    Option("max-scale", "S", help: "the greatest scale"),
    Option("clamp", help: "leave no gap at the edges, centre what is smaller"),
    Option("rotation", "DEGREES", help: "turn clockwise about the window's middle"),
    Option("flip", help: "mirror left to right, before turning"),
    Option("dpr", "1", help: "device pixels per CSS pixel"),
    Option("margin", "0", help: "rings of tiles beyond the edge"),
    Option("fallback", help: "also the coarser tiles of the same area"),
  ]

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    let path = try arguments.onlyOperand("the archive")
    let query = try query(arguments)
    let archive: TileArchive
    do {
      archive = try TileArchive(path: path)
    } catch {
      Output.error(error.description)
      return .someFailed
    }
    do {
      let answer = try ViewportAnswer(query, id: archive.name, archive: archive)
      Output.result(String(decoding: answer.json, as: UTF8.self) + "\n")
      return .success
    } catch { throw UsageError(error.description) }
  }

  /// The same parameters by the same checks as over HTTP.
  private static func query(_ arguments: Arguments) throws(UsageError) -> ViewportQuery {
    let window = try arguments.required("viewport")
    let sides = window.split(separator: "x", omittingEmptySubsequences: false).map(String.init)
    guard sides.count == 2 else {
      throw UsageError(
        "\(arguments.spelled("viewport")) is '\(window)'; it takes WIDTHxHEIGHT, such as 1280x800")
    }
    var parameters = [(name: "width", value: sides[0]), (name: "height", value: sides[1])]
    if let offset = arguments.string("offset") {
      let parts = offset.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2 else {
        throw UsageError("\(arguments.spelled("offset")) is '\(offset)'; it takes X,Y, such as 300,200")
      }
      parameters += [("x", parts[0]), ("y", parts[1])]
    }
    let names = [
      "scale": "scale", "fit": "fit", "center": "center", "anchor": "anchor", "zoom": "zoom",
      "min-scale": "minScale", "max-scale": "maxScale", "rotation": "rotation", "dpr": "dpr",
      "margin": "margin",
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
      guard case .parameter(let name) = error.errors[0].place else { throw UsageError("\(error)") }
      throw UsageError("\(option(of: name, arguments)): \(error.errors[0].detail)")
    }
  }

  /// The option, with what was given, that a parameter of the query comes from.
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
