import Foundation
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratImaging
import ZigguratMetadata
import ZigguratSandbox

/// The messages between a builder and its sandboxed process, in this order: `build`; `pages`, or `plan`, then `go`,
/// tiles and entries if there is no file for them, `progress`, and `built` or `failed`.
enum BuildMessage {
  /// To the sandboxed process.
  static let build: UInt32 = 1
  /// The plan may be carried out: with a descriptor to write the archive into, or with none.
  static let go: UInt32 = 2
  /// One thread more.
  static let assist: UInt32 = 3

  /// From the sandboxed process: the source is several pages, each a picture of its own.
  static let pages: UInt32 = 11
  static let plan: UInt32 = 12
  /// A tile's number, its CRC-32 and its bytes.
  static let tile: UInt32 = 13
  /// An entry's name, a NUL and its bytes.
  static let entry: UInt32 = 14
  static let progress: UInt32 = 15
  static let built: UInt32 = 16
  static let failed: UInt32 = 17

  /// Bytes that a message of a kind may have.
  static func longest(_ kind: UInt32) -> Int {
    // Tiles are at most as large as their pixels, and an animation is 32 MB.
    kind == tile || kind == entry ? 1 << 28 : longestTerms
  }

  /// Bytes of a message of words and numbers.
  static let longestTerms = InputLimit.message.bytes

  static func encode(_ value: some Encodable) -> [UInt8] {
    // Strings and finite numbers always encode.
    Array(try! JSONEncoder().encode(value))
  }

  static func decode<Value: Decodable>(_ type: Value.Type, _ message: WorkerMessage) throws(TerminationReason)
    -> Value
  {
    let limits = message.kind == pages ? pageLimits : InputLimit.message.json
    do { return try limits.decode(type, from: message.bytes) } catch { throw .garbled }
  }

  /// The limits of `pages`: if it has many values, all are numbers.
  private static let pageLimits = JSONLimits(bytes: longestTerms, depth: 16, values: 1 << 18)

  /// Whether a message of the source's pages is taken.
  static func isTaken(pages message: [UInt8]) -> Bool {
    message.withUnsafeBytes { pageLimits.refusal(of: $0) == nil }
  }
}

/// A picture to be built: what a sandboxed process is asked for.
struct BuildOrder: Codable {
  let path: String
  /// The source's file name.
  let name: String
  /// The name of the archive's root folder.
  let root: String
  /// The page, in a source of several; nil if that is not known yet.
  var page: SourcePage?
  /// The name of the page in a book that is a folder; nil for any other picture.
  let folio: String?
  /// The associated image of a slide; nil for the slide itself and for any other source.
  let associated: AssociatedImage?
  let digest: String
  /// The metadata beside the source.
  let metadata: SourceMetadata
  /// Only how many pages there are is asked for.
  let countsOnly: Bool
  /// The options that replace the program's for this picture; nil if there are none.
  var options: OrderedOptions?
  /// The password of a PDF; nil for any other file.
  var pdfPassword: String?
}

/// Options of one picture that stand in place of the program's.
struct OrderedOptions: Codable {
  private let tileSize, quality: Int
  private let format, fidelity, failOn: String

  init(_ options: BuildOptions) {
    tileSize = options.tileSize
    quality = options.quality
    failOn = options.failOn.name
    format = options.format.fileExtension
    fidelity = options.fidelity.name
  }

  func applied(to program: BuildOptions) -> BuildOptions {
    var options = program
    options.tileSize = tileSize
    options.quality = quality
    // The builder wrote both.
    if let format = TileFormat(fileExtension: format) { options.format = format }
    if let fidelity = Fidelity(name: fidelity) { options.fidelity = fidelity }
    if let failOn = FailOn(name: failOn) { options.failOn = failOn }
    return options
  }
}

/// A page of a source of several.
struct SourcePage: Codable, Hashable, Sendable {
  /// Counted from 0, of the pages.
  let number: Int
  /// Its place in the file, counted from 0: what is no page has one, too.
  let directory: Int
  /// The place of its transparency mask; nil if it has none.
  var mask: Int?
}

/// A source of several pages, as a sandboxed process tells it.
struct PagesMessage: Codable {
  /// The most pages of a source.
  static let most = NumberList.most

  let count: Int
  /// Each page's place in the file, counted from 0; nil if that is the page's number.
  private let places: NumberList?
  /// The places of pages that have a transparency mask.
  private var masks: MaskPlaces? = nil
  /// Pictures that are no pages and are not built, by their names.
  let leftOut: [String]
  /// Pictures that are built beside the pages.
  let associated: [AssociatedImage]
  /// The source's description of itself as a book; nil if there is none.
  private(set) var book: BookDescription?

  /// Whether it is one that a source can have; what a sandboxed process says may be a lie.
  var isPossible: Bool {
    let areSound = places.map { $0.numbers.count == count && $0.areDifferent }
    return 1...Self.most ~= count && masks?.all.count ?? 0 <= count && areSound != false
      && Set(associated).count == associated.count
  }

  func page(_ number: Int) -> SourcePage {
    let directory = places?.numbers[number] ?? number
    return SourcePage(number: number, directory: directory, mask: masks?.all[directory])
  }

  /// - Parameter countsOnly: whether a single picture is listed, too.
  /// - Returns: nil if the source is a single picture to be built.
  init?(of file: SourceFile, _ options: BuildOptions, countsOnly: Bool) throws(BuildError) {
    let pages = try SourcePages(file: file, options: options)
    guard pages.count > 1 || countsOnly else { return nil }
    self.init(
      count: pages.count,
      places: pages.directories == Array(0..<pages.count) ? nil : pages.directories,
      leftOut: pages.leftOut, associated: pages.associated, book: SourcePages.book(path: file.path))
    masks = pages.masks.isEmpty ? nil : MaskPlaces(pages.masks)
  }

  init(
    count: Int, places: [Int]? = nil, leftOut: [String] = [], associated: [AssociatedImage] = [],
    book: BookDescription?
  ) {
    self.count = count
    self.places = places.map(NumberList.init)
    self.leftOut = leftOut
    self.associated = associated
    self.book = book
    // A message of words has its bounds.
    self.book?.cutChapters(to: BuildMessage.longestTerms / 2)
  }
}

/// The plan as it is told: nothing in it is believed before it was checked.
struct PlanMessage: Codable {
  let width, height, tileSize: Int
  let format: String
  let memory: Int

  init(_ plan: BuildPlan) {
    width = plan.pyramid.imageSize.width
    height = plan.pyramid.imageSize.height
    tileSize = plan.pyramid.tileSize
    format = plan.format.fileExtension
    memory = plan.memory
  }

  /// Returns the plan; nil if no build with these options can have it.
  func plan(_ options: BuildOptions) -> BuildPlan? {
    guard tileSize == options.tileSize, memory > 0, let format = TileFormat(fileExtension: format),
      format == options.format || options.choosesFormat, let size = PixelSize(width: width, height: height),
      case (let pixels, false) = width.multipliedReportingOverflow(by: height), pixels <= Self.mostPixels,
      let pyramid = Pyramid(imageSize: size, tileSize: tileSize)
    else { return nil }
    return BuildPlan(pyramid: pyramid, format: format, memory: memory)
  }

  /// More than any file holds; a few bytes for each of them are still a number.
  private static let mostPixels = 1 << 56
}

extension BuildPlan {
  /// Bytes that no archive of the picture has: a sandboxed process is not to fill the disk.
  var mostBytes: Int { 6 * pyramid.imageSize.width * pyramid.imageSize.height + (128 << 20) }
}

/// The result of a picture, as a sandboxed process reports it.
struct ResultMessage: Codable {
  let route: String
  let steps: [String]
  let leftOut: [String]
  var damage: SourceDamage?
  var dropped: [String] = []

  init(route: String, steps: [String], leftOut: [String] = []) {
    self.route = route
    self.steps = steps
    self.leftOut = leftOut
  }

  init(_ report: PyramidBuilder.Report) {
    self.init(route: report.route, steps: report.steps, leftOut: report.leftOut)
    damage = report.damage
    dropped = report.dropped
  }
}

struct FailureMessage: Codable {
  private let kind: String
  private let reason: String

  /// - Parameter path: what the error calls the source, for which the message says `name`.
  init(_ error: BuildError, path: String, name: String) {
    kind = error.kind.reportedName
    reason = error.reason.replacing(path, with: name)
  }

  /// - Parameter describe: rewords the reason.
  func error(about source: String, _ describe: (String) -> String = { $0 }) -> BuildError {
    BuildError(source, describe(reason.sanitizedLine), BuildError.Kind(reported: kind))
  }
}
