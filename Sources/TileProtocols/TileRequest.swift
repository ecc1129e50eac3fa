package import TileGeometry

/// A request of any supported tile protocol.
package struct TileRequest: Sendable {
  /// All protocols, distinguished by their first segment. To add one, add a line.
  private typealias Served = Either<
    DeepZoomRequest,
    Either<
      XYZRequest,
      Either<
        ZoomifyRequest,
        Either<
          IIIFRequest,
          IIPRequest
        >
      >
    >
  >

  private let request: Served

  /// The names under which metrics count requests.
  package static let labels = Served.labels

  /// Returns the URLs of an image's documents and tiles, by their names in the API.
  /// - Parameters:
  ///   - id: percent-encoded.
  ///   - base: the start of every URL, without a slash at its end.
  ///   - ending: the file name extension of the tiles.
  package static func urls(ofID id: String, base: String, ending: String) -> [(name: String, url: String)] {
    Served.urls(ofID: id, base: base, ending: ending)
  }

  /// The parameters of queries, in lower case, whose values may be logged.
  package static let parameters = Set(Served.parameters)
  /// The parameters among these whose values begin with an image's id.
  package static let idParameters = Set(Served.idParameters)

  /// Parses a path; nil if it belongs to no tile protocol.
  package init?(_ path: RawPath) {
    guard Served.has(path) else { return nil }
    request = Served(path)
  }

  /// The index in `labels` under which the request is counted.
  package var label: Int { request.label }

  /// The range of the image's id in the path or query, percent-encoded.
  package var id: Range<Int> { request.id }

  /// Returns the length in bytes of a possible file name extension at the id's end, which the image's own id does not
  /// have.
  package func endingLength(_ path: RawPath) -> Int { request.endingLength(path) }

  /// The format in which the tile is to be encoded; nil if no format has the file name extension.
  package var format: PictureFormat? { request.format }

  /// The range of the id if it is longer and contains the slashes behind it; nil if the path has only one reading.
  package var wholeID: Range<Int>? { request.wholeID }

  package var subject: TileSubject { request.subject }

  /// Returns the place of the tile or picture that the request asks for.
  package func place(in pyramid: Pyramid, _ limits: PictureLimits) -> TileResolution {
    request.place(in: pyramid, limits)
  }

  /// Returns the Link header of the answer; nil if the protocol has none.
  /// - Parameters:
  ///   - path: the path of the request.
  ///   - place: the place that the request asks for.
  package func link(
    _ path: RawPath, to place: TileResolution, in pyramid: Pyramid, _ limits: PictureLimits
  ) -> IIIFTileLink? {
    request.link(path, to: place, in: pyramid, limits)
  }

  package func document(of image: DescribedImage) -> TileDocument { request.document(of: image) }

  /// Returns the URL to which a request for the image itself is redirected.
  /// - Parameter id: percent-encoded.
  package func location(ofID id: String, base: String) -> String { request.location(ofID: id, base: base) }
}
