import Foundation
import PyramidBuilding
import TileStorage
import ZigguratText

enum InspectCommand: Command {
  static let name = "inspect"
  static let usage = "ARCHIVE|SOURCE"
  static let summary = "Size, levels, tiles, format, colour, pages and origin, at a glance."
  static let options =
    [Option("json", isCommon: true, help: "Write a JSON object")] + BuildOptions.arguments
    + [SecretFile.pdfPasswordOption].grouped(.stacks)

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    let path = try arguments.onlyOperand("archive or image")
    let options = try BuildOptions(arguments)
    if let code = ProgramWorkers.start(options, takesUncommon: true) { return code }
    let pdfPassword = try SecretFile.pdfPassword(arguments)
    let facts: [Fact]
    do {
      facts = try path.hasSuffix(".szi") ? archive(path) : source(path, options, pdfPassword)
    } catch {
      Output.error("\(error)")
      return .someFailed
    }
    if try arguments.flag("json") {
      Output.json(.object(Dictionary(uniqueKeysWithValues: facts.map { ($0.key, $0.value) })))
    } else {
      let width = facts.map(\.key.count).max()! + 2
      for fact in facts where !fact.text.isEmpty {
        let gap = String(repeating: " ", count: width - fact.key.count)
        Output.result(fact.key + gap + fact.text + "\n")
      }
    }
    return .success
  }

  /// One fact: for programs by key and value, for people as text.
  private struct Fact {
    let key: String
    let value: JSONValue
    let text: String

    init(_ key: String, json value: JSONValue, _ text: String) {
      self.key = key
      self.value = value
      self.text = text
    }

    init(_ key: String, _ value: String, _ text: String? = nil) {
      self.init(key, json: .text(value), text ?? value)
    }

    init(_ key: String, _ value: Int, _ text: String? = nil) {
      self.init(key, json: .integer(value), text ?? "\(value)")
    }

    init(_ key: String, _ values: [String], separator: String) {
      self.init(key, json: .list(values.map { .text($0) }), values.joined(separator: separator))
    }
  }

  private static func archive(_ path: String) throws -> [Fact] {
    let archive = try TileArchive(path: path, within: nil)
    let pyramid = archive.pyramid
    let levels = (0..<pyramid.levelCount).map { level in
      let size = pyramid.size(ofLevel: level)
      return JSONValue.object([
        "width": .integer(size.width), "height": .integer(size.height),
        "columns": .integer(pyramid.columns(ofLevel: level)), "rows": .integer(pyramid.rows(ofLevel: level)),
      ])
    }
    var facts = size(pyramid.imageSize.width, pyramid.imageSize.height)
    facts += [
      Fact("levels", json: .list(levels), "\(pyramid.levelCount)"), Fact("tiles", pyramid.tileCount),
      Fact("tileSize", pyramid.tileSize), Fact("overlap", pyramid.overlap),
      Fact("format", archive.format.fileExtension),
    ]
    if let count = archive.byteCount { facts.append(Fact("bytes", count, Output.size(ofBytes: count))) }
    facts.append(Fact("generation", String(archive.generation, radix: 16)))
    if let record = archive.buildRecord {
      facts += [
        Fact(
          "source", record.sourceName, "\(record.sourceName), \(Output.size(ofBytes: record.sourceBytes))"),
        Fact("sourceDigest", record.sourceDigest), Fact("route", record.route),
        Fact("steps", record.steps, separator: "; "), Fact("options", record.options),
      ]
      facts += self.damage(record.damage)
      if let dropped = record.dropped { facts.append(Fact("dropped", dropped, separator: ", ")) }
    }
    facts += scale(archive.micronsPerPixel.map { [$0.x, $0.y] })
    return facts + axes(archive.buildRecord?.dimensions) + metadataFacts(archive.metadata)
  }

  private static func damage(_ damage: SourceDamage?) -> [Fact] {
    guard let damage else { return [] }
    return [
      Fact("damaged", json: .flag(true), ""), Fact("damage", damage.kind.rawValue, damage.reason),
      Fact("reason", damage.reason, ""),
    ]
  }

  private static func axes(_ dimensions: ImageDimensions?) -> [Fact] {
    guard let dimensions else { return [] }
    let channels = dimensions.channels.map { channel -> JSONValue in
      ["name": .text(channel.name), "colour": .text(channel.colour), "isShown": .flag(channel.isShown)]
    }
    let names = dimensions.channels.map { "\($0.name) \($0.isShown ? $0.colour : "hidden")" }
    return [
      Fact("channels", json: .list(channels), names.joined(separator: ", ")),
      Fact("sizeZ", dimensions.sizeZ), Fact("sizeT", dimensions.sizeT),
    ]
  }

  /// Returns the picture's descriptive metadata.
  private static func metadataFacts(_ metadata: ImageMetadata) -> [Fact] {
    [
      ("title", metadata.title), ("caption", metadata.caption), ("creator", metadata.creator),
      ("date", metadata.date), ("place", metadata.place), ("rights", metadata.rights),
      ("license", metadata.license), ("webStatement", metadata.webStatement),
      ("usageTerms", metadata.usageTerms), ("identifier", metadata.identifier),
      ("credit", metadata.credit), ("creditSource", metadata.source),
    ].compactMap { (key, text) in text.map { Fact(key, $0) } }
      + metadata.titles.sorted { $0.key < $1.key }.map { Fact("title-\($0.key)", $0.value) }
      + (metadata.keywords.isEmpty
        ? [] : [Fact("keywords", metadata.keywords, separator: ", ")])
  }

  private static func source(
    _ path: String, _ options: BuildOptions, _ pdfPassword: String?
  ) throws -> [Fact] {
    let source = try SourceInspection(path: path, options: options, pdfPassword: pdfPassword)
    let marks = source.colourMarks.map { ", by \($0)" } ?? ""
    return size(source.size.width, source.size.height) + [
      Fact("format", source.format),
      Fact(
        "colour", source.colour, source.colour + (source.hasProfile ? ", with an ICC profile" : "") + marks),
      Fact("bands", source.bands, "\(source.bands)" + (source.hasAlpha ? ", the last is alpha" : "")),
      Fact("profile", json: .flag(source.hasProfile), ""), Fact("alpha", json: .flag(source.hasAlpha), ""),
      Fact("orientation", source.orientation), Fact("pages", source.pages), Fact("route", source.route),
      Fact("steps", source.steps, separator: "; "),
    ] + damage(source.damage)
      + (source.associated.isEmpty ? [] : [Fact("associated", source.associated, separator: ", ")])
      + (source.dropped.isEmpty ? [] : [Fact("dropped", source.dropped, separator: ", ")])
      + (source.leftOut.isEmpty ? [] : [Fact("leftOut", source.leftOut, separator: ", ")])
      + (source.scenes.isEmpty ? [] : [Fact("scenes", source.scenes, separator: ", ")])
      + axes(source.dimensions) + scale(source.micronsPerPixel) + metadataFacts(source.metadata)
  }

  private static func scale(_ micronsPerPixel: [Double]?) -> [Fact] {
    guard let microns = micronsPerPixel, microns.count == 2 else { return [] }
    return [
      Fact("micronsPerPixel", json: .list(microns.map { .number($0) }), "\(microns[0]) × \(microns[1])")
    ]
  }

  private static func size(_ width: Int, _ height: Int) -> [Fact] {
    let megapixels = Double(width) * Double(height) / 1e6
    return [
      Fact("width", width, ""), Fact("height", height, ""),
      Fact(
        "size", "\(width)x\(height)", "\(width) × \(height), \(String(format: "%.1f", megapixels)) megapixels"
      ),
    ]
  }
}
