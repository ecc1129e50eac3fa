package import TileGeometry

/// A request through any of the protocols that are served.
package struct TileRequest: Sendable {
  /// Every protocol, told apart by its first segment: one more is one more line.
  private typealias Served = OneOf<
    DeepZoomRequest,
    OneOf<
      XYZRequest,
      OneOf<
        ZoomifyRequest,
        OneOf<
          IIIFRequest,
          IIPRequest
        >
      >
    >
  >

  private let request: Served

  /// What requests are counted as.
  package static let labels = Served.labels

  /// The URLs of an image's documents and tiles, by the names that the API has for them.
  /// - Parameters:
  ///   - id: percent-encoded.
  ///   - base: in front of every URL, without a slash at its end.
  ///   - ending: of the tiles' files.
  package static func urls(ofID id: String, base: String, ending: String) -> [(name: String, url: String)] {
    Served.urls(ofID: id, base: base, ending: ending)
  }

  /// The parameters of queries, in lower case, whose values logs may have.
  package static let parameters = Set(Served.parameters)
  /// Those of them whose values begin with an image's id.
  package static let idParameters = Set(Served.idParameters)

  /// Nil where the path is of no tile protocol.
  package init?(_ path: RawPath) {
    guard Served.has(path) else { return nil }
    request = Served(path)
  }

  /// Which of `labels` the request is counted as.
  package var label: Int { request.label }

  /// Where in the path or query the image's id stands, percent-encoded.
  package var id: Range<Int> { request.id }

  /// Bytes at the id's end that may be the ending of a file's name, which the image's own id is without.
  package func endingLength(_ path: RawPath) -> Int { request.endingLength(path) }

  /// What the tile is to be encoded in; nil for an ending that no format has.
  package var format: PictureFormat? { request.format }

  /// Where the id stands if an image is called so; nil where the path has one reading.
  package var wholeID: Range<Int>? { request.wholeID }

  package var subject: TileSubject { request.subject }

  /// Where the tile or picture lies that the request asks for.
  package func place(in pyramid: Pyramid, _ limits: PictureLimits) -> TilePlace {
    request.place(in: pyramid, limits)
  }

  /// The Link header of the answer; nil where the protocol has none.
  /// - Parameters:
  ///   - path: that of the request.
  ///   - place: what the request was found to ask for.
  package func link(
    _ path: RawPath, to place: TilePlace, in pyramid: Pyramid, _ limits: PictureLimits
  ) -> IIIFTileLink? {
    request.link(path, to: place, in: pyramid, limits)
  }

  package func document(of image: DescribedImage) -> TileDocument { request.document(of: image) }

  /// Where a request about the image itself is sent.
  /// - Parameter id: percent-encoded.
  package func location(ofID id: String, base: String) -> String { request.location(ofID: id, base: base) }
}
