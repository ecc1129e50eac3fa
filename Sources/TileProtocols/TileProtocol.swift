package import TileGeometry

/// A protocol by which viewers request tiles. A value is one request, parsed once from the bytes of its path without a
/// string, an array or an object.
package protocol TileProtocol: Sendable {
  /// The names under which metrics count its requests.
  static var labels: [String] { get }

  /// Returns the URLs of an image's documents and tiles, by their names in the API.
  /// - Parameters:
  ///   - id: percent-encoded.
  ///   - base: the start of every URL, without a slash at its end.
  ///   - ending: the file name extension of the tiles.
  static func urls(ofID id: String, base: String, ending: String) -> [(name: String, url: String)]

  /// The parameters of its queries, in lower case, whose values may be logged.
  static var parameters: [String] { get }
  /// The parameters among these whose values begin with an image's id.
  static var idParameters: [String] { get }

  /// Whether the path's first segments belong to the protocol.
  static func has(_ path: RawPath) -> Bool

  /// - Parameter path: a path of the protocol.
  init(_ path: RawPath)

  /// The index in `labels` under which the request is counted.
  var label: Int { get }
  /// The range of the image's id in the path or query, percent-encoded.
  var id: Range<Int> { get }
  /// Returns the length in bytes of a possible file name extension at the id's end. The image's own id does not have
  /// it. The length is 0 if clients name no files.
  func endingLength(_ path: RawPath) -> Int
  /// The range of the id if it is longer and contains the slashes behind it; nil if the path has only one reading.
  var wholeID: Range<Int>? { get }
  var subject: TileSubject { get }
  /// The format in which the tile is to be encoded; nil if no format has the file name extension.
  var format: PictureFormat? { get }

  /// Returns the place of the tile or picture that the request asks for.
  func place(in pyramid: Pyramid, _ limits: PictureLimits) -> TileResolution

  /// Returns the Link header of the answer; nil if the protocol has none.
  /// - Parameters:
  ///   - path: the path of the request.
  ///   - place: the place that the request asks for.
  func link(
    _ path: RawPath, to place: TileResolution, in pyramid: Pyramid, _ limits: PictureLimits
  ) -> IIIFTileLink?

  func document(of image: DescribedImage) -> TileDocument

  /// Returns the URL to which a request with the subject `.redirect` is redirected.
  /// - Parameter id: percent-encoded.
  func location(ofID id: String, base: String) -> String
}

/// The subject of a request.
package enum TileSubject: Hashable, Sendable {
  /// A tile, or a picture that is made of tiles.
  case tile
  /// A description of the image, with or without the metadata that people edit.
  case document(hasMetadata: Bool)
  /// The image itself. The request is redirected to its description.
  case redirect
  /// A path that does not exist in the protocol; the reason in one line.
  case nothing(String)
  /// A malformed request; the reason in one line.
  case malformed(String)
}

extension TileProtocol {
  package static var parameters: [String] { [] }
  package static var idParameters: [String] { [] }
  package var label: Int { 0 }
  package func endingLength(_ path: RawPath) -> Int { 0 }
  package var wholeID: Range<Int>? { nil }

  package func link(
    _ path: RawPath, to place: TileResolution, in pyramid: Pyramid, _ limits: PictureLimits
  ) -> IIIFTileLink? { nil }

  package func location(ofID id: String, base: String) -> String {
    preconditionFailure("requests of this protocol are sent nowhere")
  }
}
