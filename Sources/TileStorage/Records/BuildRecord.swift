package import Foundation
package import ZigguratFiles

/// `vendor/ziggurat/build.json`: the source of an archive and the way it was built. The next build uses it to skip
/// unchanged images.
package struct BuildRecord: Codable, Hashable, Sendable {
  /// The name of its entry, relative to the archive's root folder.
  package static let entryName = "vendor/ziggurat/build.json"

  /// The source file's name, without its folder.
  package var sourceName: String
  /// The page of a book or a multi-page source, counted from 1; nil for an image by itself.
  package var page: Int?
  /// The picture's place in the source's file, counted from 1, if that is neither the first nor `page`.
  package var directory: Int?
  /// The names of pictures in the source's file that none of its archives shows, such as a slide's label; nil if every
  /// picture is shown.
  package var omitted: [String]?
  /// The path of a page's file below its book's folder, without its extension, if the book is a folder.
  package var folio: String?
  /// The source's name for the page, if it is not its number.
  package var label: String?
  /// The source's size in bytes.
  package var sourceBytes: Int
  /// The XXH3-128 of the source's bytes, hexadecimal.
  package var sourceDigest: String
  /// The XXH3-128 of the source's data that determines its pixels, hexadecimal; nil if it cannot be separated from
  /// metadata.
  package var pixelDigest: String?
  /// A digest of the XMP sidecar beside the source, hexadecimal; nil if there is no sidecar.
  package var sidecarDigest: String?
  /// The options that determine the archive's bytes, in one line.
  package var options: String
  /// The method by which the tiles were made, and why.
  package var route: String
  /// The operations on the pixels, in order.
  package var steps: [String]
  /// Microns per image pixel, across and down, if the source states them.
  package var micronsPerPixel: [Double]?
  /// Microns per image pixel across, if pixels are square to within 1%: the input of rulers and scale bars.
  package var squareMicronsPerPixel: Double? { Self.square(micronsPerPixel) }

  static func square(_ micronsPerPixel: [Double]?) -> Double? {
    guard let microns = micronsPerPixel, microns.count == 2, microns[0].isFinite, microns[0] > 0,
      abs(microns[0] - microns[1]) <= microns[0] / 100
    else { return nil }
    return microns[0]
  }

  /// The animation that the archive contains, if any.
  package var animation: Animation?
  /// The associated images of a slide that are in the archive, and are archives of their own: `label`, `macro`,
  /// `thumbnail`. Nil if the slide has none, or the build did not ask for them.
  package var associatedImages: [String]?
  /// The role of this picture among them.
  package var associatedAs: String?
  /// Whether the source was uploaded; nil otherwise.
  package var isUploaded: Bool?
  /// Damage in the source that the picture shows; nil if the source is undamaged.
  package var damage: SourceDamage?
  /// Data of the source that its archives do not show, such as a gain map; nil if they show all data.
  package var dropped: [String]?
  /// The picture's own samples that the tiles lack, such as its alpha or 16 bits; nil if nothing is missing.
  package var reduced: [String]?
  /// Whether the source's file may contain another picture beside the shown one, such as a slide's label or macro. Nil
  /// if the build did not record it.
  package var mayHoldLabel: Bool?
  /// The dimensions of a stack; the archive shows one of its planes.
  package var dimensions: ImageDimensions?

  /// Creates a record without scale and animation.
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

  /// Decodes the record in an entry's bytes; nil if they are not one, or exceed `InputLimit.buildRecord`.
  package init?(json: Data) {
    guard let record = try? InputLimit.buildRecord.json.decode(BuildRecord.self, from: json) else {
      return nil
    }
    self = record
  }

  /// The JSON with sorted keys: the same record gives the same bytes.
  package var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    // Strings and numbers always encode.
    return Array(try! encoder.encode(self)) + [0x0a]
  }
}

extension BuildRecord {
  /// Returns the step of a build that takes the first of several, such as `3 images`.
  package static func first(of several: String) -> String { firstOf + several }

  private static let firstOf = "the first of "

  /// Whether the build was asked for associated images of slides.
  package var keepsAssociated: Bool { options.split(separator: " ").contains("associated") }

  /// Whether the archive shows a camera's RAW file: developed, or its preview.
  package var isOfRAW: Bool { route.contains("a RAW file") }

  /// Whether the archive shows everything in the source's file. It is not one of several pages, images, planes or
  /// frames, and nothing is omitted. Otherwise the file contains pictures that are nowhere else.
  package var showsWholeSource: Bool {
    if page != nil || directory != nil || associatedAs != nil || omitted != nil || isOfRAW { return false }
    if dropped != nil || reduced != nil || damage != nil { return false }
    if let dimensions, dimensions.sizeZ > 1 || dimensions.sizeT > 1 { return false }
    if let dimensions, dimensions.channels.contains(where: { !$0.isShown }) { return false }
    // The archive has the animation itself.
    return animation != nil || !steps.contains { $0.hasPrefix(Self.firstOf) }
  }

  /// Whether the sources of both archives have the same pixels; their metadata may differ.
  package func showsSamePicture(as other: BuildRecord) -> Bool {
    if let pixelDigest, pixelDigest == other.pixelDigest { return page == other.page }
    return sourceDigest == other.sourceDigest && page == other.page
  }

  /// Whether the source's file may be public: it contains no slide's label or similar picture that the archive does not
  /// show.
  ///
  /// - Parameter kind: the format of the file. TIFF files may contain labels; archives of earlier versions do not
  ///   record it.
  package func maySourceBePublic(_ kind: ImageFormat) -> Bool {
    if let mayHoldLabel { return !mayHoldLabel }
    return kind != .tiff && kind != .raw && !route.contains("(openslide)")
      && !route.contains("being a slide's")
  }

  /// Returns the book of a page with this id: the id without the page's part. Nil for an image that is not a page.
  package func book(ofPage id: ImageID) -> ImageID? {
    guard folio != nil || page != nil else { return nil }
    var book: ImageID? = id
    for _ in 0...(folio ?? "").utf8.count(where: { $0 == UInt8(ascii: "/") }) { book = book?.folder }
    return book
  }

  /// The name of the page in its book; nil if it is its number.
  package var pageLabel: String? { label ?? folio?.split(separator: "/").last.map(String.init) }
}

extension TileArchive {
  /// The build record's `squareMicronsPerPixel`, or that of another program's archive.
  package var squareMicronsPerPixel: Double? { BuildRecord.square(micronsPerPixel.map { [$0.x, $0.y] }) }
}
