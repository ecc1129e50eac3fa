import Files
import Foundation
import TileExport
import TileStorage

enum ExportCommand: Command {
  static let name = "export"
  static let usage = "ARCHIVE|LIBRARY|s3://BUCKET/PREFIX… --layout dz|zoomify|xyz|iiif3 --output DIR"
  static let summary =
    "Folders of tiles for web servers that know nothing of tiles: of one archive DIR, of several or a library DIR/ID."
  static let options = [
    Option("layout", "dz|zoomify|xyz|iiif3", help: "how the files are named"),
    Option("output", "DIR", help: "the folder to make; it appears when it is complete"),
    Option("tile-size", "N", help: "level pixels (default: the archive's; zoomify: 256)"),
    Option("overlap", "N", help: "level pixels that tiles reach into each other; dz only"),
    Option(
      "format", TileFormat.allCases.map(\.name).joined(separator: "|"),
      help: "of the tiles (default: the archive's)"),
    Option("quality", "80", help: "of tiles that have to be encoded anew, 1 to 100"),
    Option("background", "R,G,B", help: "behind transparency and beyond the image's edge (255,255,255)"),
    Option("base-url", "URL", help: "where DIR will be seen: goes into info.json and tilejson.json"),
    Option("force", help: "replace what is at the output"),
    Option("quiet", help: "say nothing but failures"),
  ]

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    guard !arguments.operands.isEmpty else {
      throw UsageError("the archive is missing: ziggurat export \(usage)")
    }
    let output = try arguments.required("output")
    let options = try exportOptions(arguments)
    if let code = ProgramCells.start() { return code }
    Interruption.listen()
    let isQuiet = try arguments.flag("quiet")
    let list = ExportList(arguments.operands, output: output)
    if let library = ExportList.library(around: output) {
      // Of many, the library would show each a second time, and the next export would export those, too.
      guard list.isOne else {
        Output.error("cannot write \(output): it is in the library \(library), which shows what is put there")
        return .someFailed
      }
      if !isQuiet {
        Output.note(
          "\(output) is in the library \(library), which shows Deep Zoom folders that are put there")
      }
    }
    var errors = list.errors
    for error in errors { Output.error(error.description) }
    for (number, item) in list.items.enumerated() {
      do throws(StorageError) {
        var options = options
        // What this run has written is not replaced by an image whose id begins with another's.
        if list.isWithinAnother(number) { options.replaces = false }
        if let part = item.part { options.baseURL = options.baseURL.map { "\($0)/\(part)" } }
        let report = try item.withArchive { (archive) throws(StorageError) in
          try TileExporter(archive, options: options, isCancelled: { Interruption.isAsked })
            .export(to: item.output, within: list.isOne ? nil : list.root)
        }
        if !isQuiet { Output.note("\(Output.oneLine(item.output)): \(words(report))") }
      } catch {
        if Interruption.isAsked {
          let rest = list.isOne ? "nothing is left behind" : "what is finished stays, the rest left nothing"
          Output.error("interrupted; \(rest)")
          return .interrupted
        }
        let isThere = error.code == EEXIST && !options.replaces
        Output.error(error.description + (isThere ? "; --force replaces it" : ""))
        errors.append(error)
      }
    }
    if !isQuiet, !list.isOne {
      let failed = errors.isEmpty ? "" : ", \(errors.count) failed"
      Output.note(
        "\(Output.count(list.items.count + list.errors.count - errors.count, "image")) exported\(failed)")
    }
    return errors.isEmpty ? .success : errors.contains(where: \.isTemporary) ? .temporary : .someFailed
  }

  private static func words(_ report: TileExporter.Report) -> String {
    "\(Output.count(report.copied, "tile")) copied as stored, \(report.encoded) made anew, "
      + Output.size(ofBytes: report.byteCount)
  }

  private static func exportOptions(_ arguments: Arguments) throws(UsageError) -> ExportOptions {
    let name = try arguments.required("layout")
    guard let layout = ExportLayout(rawValue: name) else {
      throw UsageError("\(arguments.spelled("layout")) is '\(name)'; it takes dz, zoomify, xyz or iiif3")
    }
    var options = ExportOptions(layout: layout)
    options.tileSize = try arguments.int("tile-size", in: ExportOptions.tileSizes)
    options.overlap = try arguments.int("overlap", in: 0...ExportOptions.tileSizes.upperBound)
    if options.overlap != nil, layout != .deepZoom {
      throw UsageError("\(arguments.spelled("overlap")) goes with --layout dz only")
    }
    if let name = arguments.string("format") {
      guard let format = TileFormat(fileExtension: name) else {
        throw UsageError(
          "\(arguments.spelled("format")) is '\(name)'; it takes one of \(TileFormat.names)")
      }
      guard layout != .zoomify || format == .jpeg else {
        throw UsageError("\(arguments.spelled("format")) is '\(name)'; zoomify has jpeg only")
      }
      options.format = format
    }
    if let quality = try arguments.int("quality", in: 1...100) { options.quality = quality }
    if let colour = try arguments.colour("background") { options.background = colour }
    options.baseURL = arguments.string("base-url").map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    options.replaces = try arguments.flag("force")
    return options
  }
}
