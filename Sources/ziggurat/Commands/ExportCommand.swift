import Foundation
import TileStorage
import ZigguratFiles
import ZigguratTileExport

enum ExportCommand: Command {
  static let name = "export"
  static let usage = "ARCHIVE|LIBRARY|s3://BUCKET/PREFIX… --layout dz|zoomify|xyz|iiif3 --output DIR"
  static let summary =
    "Write static tile trees for plain web servers: DIR for one archive, DIR/ID for several or a library."
  static let options = [
    Option("layout", "LAYOUT", help: "Naming of the files: dz, zoomify, xyz or iiif3"),
    Option("output", "DIR", help: "Folder to make; it appears when it is complete"),
    Option("tile-size", "N", default: "the archive's; zoomify: 256", help: "Side of a tile in level pixels"),
    Option("overlap", "N", help: "Overlap of neighbouring tiles in level pixels; dz only"),
    Option("format", "FORMAT", default: "the archive's", help: "Tile format: \(TileFormat.names)"),
    Option("quality", "N", default: "80", help: "Quality of tiles that are encoded again, 1 to 100"),
    Option(
      "background", "R,G,B", default: "255,255,255", help: "Colour behind transparency and beyond the image"),
    Option("base-url", "URL", help: "Public URL of DIR, for info.json and tilejson.json"),
    Option("force", help: "Replace the output of an earlier export"),
    Option("quiet", help: "Report failures only"),
  ]

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    guard !arguments.operands.isEmpty else {
      throw arguments.missing("archive")
    }
    let output = try arguments.required("output")
    let options = try exportOptions(arguments)
    if let code = ProgramWorkers.start() { return code }
    SignalHandler.listen()
    let isQuiet = try arguments.flag("quiet")
    var list = ExportList(arguments.operands, output: output)
    if let library = ExportList.library(around: output) {
      // Several exports would appear in the library again, and the next export would export those, too.
      guard list.isOne else {
        Output.error("cannot write \(output): it is in the library \(library), which shows what is put there")
        return .someFailed
      }
      if !isQuiet {
        Output.note(
          "\(output) is in the library \(library), which shows Deep Zoom folders that are put there")
      }
    }
    list.refuseTileNames(options)
    var errors = list.errors
    for error in errors { Output.error(error.description) }
    for (number, item) in list.items.enumerated() {
      do throws(StorageError) {
        var options = options
        // An image whose id begins with another's must not replace files that this run has written.
        if list.isWithinAnother(number) { options.replaces = false }
        if let part = item.part { options.baseURL = options.baseURL.map { "\($0)/\(part)" } }
        if options.replaces, let source = list.source(in: item.output) {
          throw StorageError("write \(item.output)", "the archive that is exported is in it: \(source)")
        }
        let report = try item.withArchive { (archive) throws(StorageError) in
          try TileExporter(archive, options: options, isCancelled: { SignalHandler.isAsked })
            .export(to: item.output, within: list.isOne ? nil : list.root)
        }
        if !isQuiet { Output.note("\(Output.oneLine(item.output)): \(summary(report))") }
      } catch {
        if SignalHandler.isAsked {
          let rest = list.isOne ? "nothing is left behind" : "what is finished stays, the rest left nothing"
          Output.error("interrupted; \(rest)")
          return .interrupted
        }
        let isThere = error.code == EEXIST && !options.replaces
        Output.error(error.description + (isThere ? "; --force replaces it" : ""))
        errors.append(error)
      }
    }
    if options.baseURL == nil, !isQuiet, errors.isEmpty, let note = Self.noteWithoutBase(options.layout) {
      Output.note(note)
    }
    if !isQuiet, !list.isOne {
      let failed = errors.isEmpty ? "" : ", \(errors.count) failed"
      Output.note(
        "\(Output.count(list.items.count + list.errors.count - errors.count, "image")) exported\(failed)")
    }
    return errors.isEmpty ? .success : errors.contains(where: \.isTemporary) ? .temporary : .someFailed
  }

  private static func noteWithoutBase(_ layout: ExportLayout) -> String? {
    switch layout {
    case .iiif3:
      "the id in info.json is an example: viewers find the tiles only with --base-url, the address of the folder"
    case .xyz:
      "the tile addresses in tilejson.json are relative: Leaflet needs --base-url, the address of the folder"
    case .deepZoom, .zoomify: nil
    }
  }

  private static func summary(_ report: TileExporter.Report) -> String {
    "\(Output.count(report.copied, "tile")) copied as stored, \(report.encoded) encoded again, "
      + Output.size(ofBytes: report.byteCount)
  }

  private static func exportOptions(_ arguments: Arguments) throws(UsageError) -> ExportOptions {
    guard let layout = ExportLayout(rawValue: try arguments.required("layout")) else {
      throw arguments.invalid("layout", expected: "dz, zoomify, xyz or iiif3")
    }
    var options = ExportOptions(layout: layout)
    options.tileSize = try arguments.int("tile-size", in: ExportOptions.tileSizes)
    options.overlap = try arguments.int("overlap", in: 0...ExportOptions.tileSizes.upperBound)
    if options.overlap != nil, layout != .deepZoom {
      throw .requires(arguments.spelled("overlap"), "--layout dz")
    }
    if let format = try arguments.value(
      "format", expected: TileFormat.names, { TileFormat(fileExtension: $0) })
    {
      guard layout != .zoomify || format == .jpeg else {
        throw arguments.invalid("format", expected: "jpeg for zoomify")
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
