package import TileGeometry

/// A protocol by which viewers ask for tiles. A value is one request, taken apart once from the bytes of its path
/// without a string, an array or an object.
package protocol TileProtocol: Sendable {
  /// What its requests are counted as.
  static var labels: [String] { get }

  /// The URLs of an image's documents and tiles, by the names that the API has for them.
  /// - Parameters:
  ///   - id: percent-encoded.
  ///   - base: in front of every URL, without a slash at its end.
  ///   - ending: of the tiles' files.
  static func urls(ofID id: String, base: String, ending: String) -> [(name: String, url: String)]

  /// The parameters of its queries, in lower case, whose values logs may have.
  static var parameters: [String] { get }
  /// Those of them whose values begin with an image's id.
  static var idParameters: [String] { get }

  /// Whether the path's first segments are the protocol's.
  static func has(_ path: RawPath) -> Bool

  /// - Parameter path: one that the protocol has.
  init(_ path: RawPath)

  /// Which of `labels` the request is counted as.
  var label: Int { get }
  /// Where in the path or query the image's id stands, percent-encoded.
  var id: Range<Int> { get }
  /// Bytes at the id's end that may be the ending of a file's name, which the image's own id is without; 0 where
  /// clients name no files.
  func endingLength(_ path: RawPath) -> Int
  /// Where the id stands if an image is called so; nil where the path has one reading.
  var wholeID: Range<Int>? { get }
  var subject: TileSubject { get }
  /// What the tile is to be encoded in; nil for an ending that no format has.
  var format: PictureFormat? { get }

  /// Where the tile or picture lies that the request asks for.
  func place(in pyramid: Pyramid, _ limits: PictureLimits) -> TilePlace

  /// The Link header of the answer; nil where the protocol has none.
  /// - Parameters:
  ///   - path: that of the request.
  ///   - place: what the request was found to ask for.
  func link(
    _ path: RawPath, to place: TilePlace, in pyramid: Pyramid, _ limits: PictureLimits
  ) -> IIIFTileLink?

  func document(of image: DescribedImage) -> TileDocument

  /// Where a request for `.redirect` is sent.
  /// - Parameter id: percent-encoded.
  func location(ofID id: String, base: String) -> String
}

/// What a request is about.
package enum TileSubject: Hashable, Sendable {
  /// A tile, or a picture that is made of tiles.
  case tile
  /// A description of the image; with what people say of it, or without.
  case document(hasWords: Bool)
  /// The image itself: its description is elsewhere.
  case redirect
  /// Nothing that the protocol has, in one line.
  case nothing(String)
  /// Nothing that can be understood: why, in one line.
  case malformed(String)
}

extension TileProtocol {
  package static var parameters: [String] { [] }
  package static var idParameters: [String] { [] }
  package var label: Int { 0 }
  package func endingLength(_ path: RawPath) -> Int { 0 }
  package var wholeID: Range<Int>? { nil }

  package func link(
    _ path: RawPath, to place: TilePlace, in pyramid: Pyramid, _ limits: PictureLimits
  ) -> IIIFTileLink? { nil }

  package func location(ofID id: String, base: String) -> String {
    preconditionFailure("requests of this protocol are sent nowhere")
  }
}
