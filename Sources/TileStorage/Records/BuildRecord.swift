package import Foundation
package import ZigguratFiles

/// `vendor/ziggurat/build.json`: what an archive was built from and how, for whoever asks later and
/// for the next build, which leaves alone what has not changed.
package struct BuildRecord: Codable, Hashable, Sendable {
  /// The name of its entry, below the archive's root folder.
  package static let entryName = "vendor/ziggurat/build.json"

  /// The source file's name, without its folder.
  package var sourceName: String
  /// The page of a book or a multi-page source, counted from 1; nil for an image by itself.
  package var page: Int?
  /// The picture's place in the source's file, counted from 1, if that is neither the first nor `page`.
  package var directory: Int?
  /// Pictures in the source's file that none of its archives shows, as a slide's label, by their names; nil if there are
  /// none.
  package var omitted: [String]?
  /// What the page of a book that is a folder is called below it: its file's path there without its ending.
  package var folio: String?
  /// What the source calls the page, where that is not its number.
  package var label: String?
  /// The source's size in bytes.
  package var sourceBytes: Int
  /// The XXH3-128 of the source's bytes, hexadecimal.
  package var sourceDigest: String
  /// The XXH3-128 of what in the source decides its pixels, hexadecimal; nil where that cannot be told from its words.
  package var pixelDigest: String?
  /// A digest of the XMP sidecar beside the source, hexadecimal; nil where there is none.
  package var sidecarDigest: String?
  /// The options that decide the archive's bytes, in one line.
  package var options: String
  /// By which way the tiles were made, and why.
  package var route: String
  /// What was done to the pixels, in order.
  package var steps: [String]
  /// Microns per image pixel, across and down, where the source tells them.
  package var micronsPerPixel: [Double]?
  /// The same across, where pixels are square to within 1%: what rulers and scale bars need.
  package var squareMicronsPerPixel: Double? { Self.square(micronsPerPixel) }

  static func square(_ micronsPerPixel: [Double]?) -> Double? {
    guard let microns = micronsPerPixel, microns.count == 2, microns[0].isFinite, microns[0] > 0,
      abs(microns[0] - microns[1]) <= microns[0] / 100
    else { return nil }
    return microns[0]
  }

  /// The moving picture that the archive keeps, if any.
  package var animation: Animation?
  /// Which pictures that a slide holds beside itself are in the archive, and archives of their own: `label`, `macro`,
  /// `thumbnail`; nil where there are none, or they were not asked for.
  package var associatedImages: [String]?
  /// Which of them this is.
  package var associatedAs: String?
  /// Whether the source was uploaded; nil otherwise.
  package var isUploaded: Bool?
  /// Damage in the source that the picture shows; nil if there is none.
  package var damage: SourceDamage?
  /// Data of the source that its archives do not show, such as a gain map; nil if there is none.
  package var dropped: [String]?
  /// The picture's own samples that the tiles lack, such as its alpha or 16 bits; nil if nothing is missing.
  package var reduced: [String]?
  /// Whether the source's file may hold a slide's label, macro or another picture beside the one that is shown; nil if
  /// the build did not record it.
  package var mayHoldLabel: Bool?
  /// Of a stack of which the archive shows one plane.
  package var dimensions: ImageDimensions?

  /// A record without scale and animation.
  package init(
    sourceName: String, page: Int?, sourceBytes: Int, sourceDigest: String, options: String, route: String,
    steps: [String]
  ) {
    self.sourceName = sourceName
    self.page = page
    self.sourceBytes = sourceBytes
    self.sourceDigest = sourceDigest
    self.options = options
    self.route = route
    self.steps = steps
  }

  /// The record in an entry's bytes; nil if they are not one, or exceed `InputLimit.buildRecord`.
  package init?(json: Data) {
    guard let record = try? InputLimit.buildRecord.json.decode(BuildRecord.self, from: json) else {
      return nil
    }
    self = record
  }

  /// Keys sorted: the same record gives the same bytes.
  package var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    // Strings and numbers always encode.
    return Array(try! encoder.encode(self)) + [0x0a]
  }
}

extension BuildRecord {
  /// The step of a build that takes the first of several, as of `3 images`.
  package static func first(of several: String) -> String { firstOf + several }

  private static let firstOf = "the first of "

  /// Whether the build was asked for what slides hold beside themselves.
  package var keepsAssociated: Bool { options.split(separator: " ").contains("associated") }

  /// Whether the archive shows a camera's RAW file: developed, or its preview.
  package var isOfRAW: Bool { route.contains("a RAW file") }

  /// Whether the archive shows all that the source's file does: not one of several pages, images, planes or frames, and
  /// nothing is left out. Otherwise the file has pictures that nothing else has.
  package var showsWholeSource: Bool {
    if page != nil || directory != nil || associatedAs != nil || omitted != nil || isOfRAW { return false }
    if dropped != nil || reduced != nil || damage != nil { return false }
    if let dimensions, dimensions.sizeZ > 1 || dimensions.sizeT > 1 { return false }
    if let dimensions, dimensions.channels.contains(where: { !$0.isShown }) { return false }
    // The archive has the animation itself.
    return animation != nil || !steps.contains { $0.hasPrefix(Self.firstOf) }
  }

  /// Whether the sources of both archives have the same pixels, whatever their metadata.
  package func showsSamePicture(as other: BuildRecord) -> Bool {
    if let pixelDigest, pixelDigest == other.pixelDigest { return page == other.page }
    return sourceDigest == other.sourceDigest && page == other.page
  }

  /// Whether everybody may have the source's file: it holds no slide's label or the like that the archive does not show.
  ///
  /// - Parameter kind: of the file. TIFF files may hold labels; archives of earlier versions do not record it.
  package func maySourceBePublic(_ kind: ImageFormat) -> Bool {
    if let mayHoldLabel { return !mayHoldLabel }
    return kind != .tiff && kind != .raw && !route.contains("(openslide)")
      && !route.contains("being a slide's")
  }

  /// The book whose page the image of this id is: all of the id but what the page is called; nil of an image by itself.
  package func book(ofPage id: ImageID) -> ImageID? {
    guard folio != nil || page != nil else { return nil }
    var book: ImageID? = id
    for _ in 0...(folio ?? "").utf8.count(where: { $0 == UInt8(ascii: "/") }) { book = book?.folder }
    return book
  }

  /// What the page is called in its book; nil where that is its number.
  package var pageLabel: String? { label ?? folio?.split(separator: "/").last.map(String.init) }
}

extension TileArchive {
  /// The build record's `squareMicronsPerPixel`, or that of an archive that others made.
  package var squareMicronsPerPixel: Double? { BuildRecord.square(micronsPerPixel.map { [$0.x, $0.y] }) }
}
