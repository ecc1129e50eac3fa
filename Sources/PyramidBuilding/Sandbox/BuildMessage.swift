import Foundation
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratImaging
import ZigguratMetadata
import ZigguratSandbox

/// The messages between a builder and its sandboxed process, in this order: `build`; `pages`, or `plan`; `go`;
/// `progress`; `built` or `failed`. Tiles and entries are messages, too, if there is no file for them.
enum BuildMessage {
  /// Messages to the sandboxed process.
  static let build: UInt32 = 1
  /// The plan is accepted. The message has the descriptor of the archive's file, or none.
  static let go: UInt32 = 2
  /// Adds one thread.
  static let assist: UInt32 = 3

  /// Messages from the sandboxed process. `pages`: the source has several pages, each a picture.
  static let pages: UInt32 = 11
  static let plan: UInt32 = 12
  /// A tile's number, its CRC-32 and its bytes.
  static let tile: UInt32 = 13
  /// An entry's name, a NUL and its bytes.
  static let entry: UInt32 = 14
  static let progress: UInt32 = 15
  static let built: UInt32 = 16
  static let failed: UInt32 = 17

  /// Returns the maximum bytes of a message of a kind.
  static func longest(_ kind: UInt32) -> Int {
    // Tiles are at most as large as their pixels, and an animation has 32 MB.
    kind == tile || kind == entry ? 1 << 28 : maxMessageSize
  }

  /// Maximum bytes of a JSON message.
  static let maxMessageSize = InputLimit.message.bytes

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

  /// The limits of `pages`: a message with many values has only numbers.
  private static let pageLimits = JSONLimits(bytes: maxMessageSize, depth: 16, values: 1 << 18)

  /// Whether a message about the source's pages is accepted.
  static func isTaken(pages message: [UInt8]) -> Bool {
    message.withUnsafeBytes { pageLimits.refusal(of: $0) == nil }
  }
}

/// An order to build a picture, sent to a sandboxed process.
struct BuildOrder: Codable {
  let path: String
  /// The source's file name.
  let name: String
  /// The name of the archive's root folder.
  let root: String
  /// The page of a source of several pages; nil if the number of pages is not known yet.
  var page: SourcePage?
  /// The file name of the page in a book that is a folder; nil for any other picture.
  let folio: String?
  /// The associated image of a slide; nil for the slide itself and for any other source.
  let associated: AssociatedImage?
  let digest: String
  /// The metadata beside the source.
  let metadata: SourceMetadata
  /// Whether only the number of pages is requested.
  let countsOnly: Bool
  /// The options that replace the program's for this picture; nil if there are none.
  var options: OrderedOptions?
  /// The password of a PDF; nil for any other file.
  var pdfPassword: String?
}

/// Options of one picture that replace the program's.
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
    // The same program wrote both values.
    if let format = TileFormat(fileExtension: format) { options.format = format }
    if let fidelity = Fidelity(name: fidelity) { options.fidelity = fidelity }
    if let failOn = FailOn(name: failOn) { options.failOn = failOn }
    return options
  }
}

/// A page of a source of several.
struct SourcePage: Codable, Hashable, Sendable {
  /// The number of the page, counted from 0.
  let number: Int
  /// The directory's position in the file, counted from 0; pictures that are not pages count, too.
  let directory: Int
  /// The position of its transparency mask; nil if it has none.
  var mask: Int?
}

/// A source of several pages, as a sandboxed process reports it.
struct PagesMessage: Codable {
  /// The maximum number of pages of a source.
  static let maximum = NumberList.maximum

  let count: Int
  /// Each page's position in the file, counted from 0; nil if that is the page's number.
  private let places: NumberList?
  /// The positions of the transparency masks of pages.
  private var masks: MaskPlaces? = nil
  /// The names of pictures that are not pages and are not built.
  let leftOut: [String]
  /// Pictures that are built besides the pages.
  let associated: [AssociatedImage]
  /// The book description in the source; nil if there is none.
  private(set) var book: BookDescription?

  /// Whether a source can have these values; the sandboxed process is untrusted.
  var isPossible: Bool {
    let areSound = places.map { $0.numbers.count == count && $0.areDifferent }
    return 1...Self.maximum ~= count && masks?.all.count ?? 0 <= count && areSound != false
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
    // The size of a message is limited.
    self.book?.cutChapters(to: BuildMessage.maxMessageSize / 2)
  }
}

/// The plan of an untrusted process. Every value is checked before it is used.
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
      case (let pixels, false) = width.multipliedReportingOverflow(by: height), pixels <= Self.maxPixels,
      let pyramid = Pyramid(imageSize: size, tileSize: tileSize)
    else { return nil }
    return BuildPlan(pyramid: pyramid, format: format, memory: memory)
  }

  /// More pixels than any file has; the product with a few bytes for each pixel does not overflow.
  private static let maxPixels = 1 << 56
}

extension BuildPlan {
  /// The maximum bytes of an archive of the picture: a sandboxed process must not fill the disk.
  var maxBytes: Int { 6 * pyramid.imageSize.width * pyramid.imageSize.height + (128 << 20) }
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

  /// - Parameter path: the source's path in the error, replaced by `name` in the message.
  init(_ error: BuildError, path: String, name: String) {
    kind = error.kind.reportedName
    reason = error.reason.replacing(path, with: name)
  }

  /// - Parameter describe: returns the reason in other terms.
  func error(about source: String, _ describe: (String) -> String = { $0 }) -> BuildError {
    BuildError(source, describe(reason.sanitizedLine), BuildError.Kind(reported: kind))
  }
}
