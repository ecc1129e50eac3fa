import Testing
import TileGeometry

@testable import ZigguratTileProtocols

/// The parsers of bytes, for texts.
extension IIIFRegion {
  init?(_ text: String) {
    guard let region = Array(text.utf8).withUnsafeBytes({ IIIFRegion($0) }) else { return nil }
    self = region
  }
}

extension IIIFSize {
  init?(_ text: String, _ version: IIIFVersion) {
    guard let size = Array(text.utf8).withUnsafeBytes({ IIIFSize($0, version) }) else { return nil }
    self = size
  }
}

extension IIIFImageRequest {
  /// - Parameter parts: region, size, rotation and file.
  init(_ version: IIIFVersion, _ parts: [String]) throws(Part) {
    let bytes = parts.map { Array($0.utf8) }
    var (request, failure) = (IIIFImageRequest?.none, Part?.none)
    bytes[0].withUnsafeBytes { region in
      bytes[1].withUnsafeBytes { size in
        bytes[2].withUnsafeBytes { rotation in
          bytes[3].withUnsafeBytes { file in
            do throws(Part) {
              request = try IIIFImageRequest(
                version, region: region, size: size, rotation: rotation, file: file)
            } catch { failure = error }
          }
        }
      }
    }
    if let failure { throw failure }
    self = request!
  }

  func picture(of image: PixelSize, _ limits: PictureLimits) throws -> Picture {
    try picture(in: Pyramid(imageSize: image, tileSize: 512)!, limits)
  }

  func picture(in pyramid: Pyramid, _ limits: PictureLimits) throws -> Picture {
    switch try place(in: pyramid, limits) {
    case .picture(let picture): return picture
    case .stored(let tile):
      let picture = picture(of: tile, in: pyramid)
      return try #require(picture)
    case .crop, .notFound: throw TileRequestError("it is no picture")
    }
  }
}

/// A request that is parsed from a text, with what it found.
struct ReadRequest {
  let request: TileRequest
  let path: [UInt8]

  /// - Parameter path: with the query, if there is one.
  init?(_ path: String) {
    self.path = Array(path.utf8)
    guard let request = self.path.withUnsafeBytes({ TileRequest(Self.target($0)) }) else { return nil }
    self.request = request
  }

  private static func target(_ bytes: UnsafeRawBufferPointer) -> RawPath {
    RawPath(bytes, count: bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count)
  }

  var id: String { String(decoding: path[request.id], as: UTF8.self) }

  var endingLength: Int { path.withUnsafeBytes { request.endingLength(Self.target($0)) } }

  func place(in pyramid: Pyramid) -> TileResolution { request.place(in: pyramid, PictureLimits()) }

  /// The stored tile that is asked for, if the pyramid has it.
  func tile(in pyramid: Pyramid) -> TileAddress? {
    guard request.subject == .tile, case .stored(let tile) = place(in: pyramid), pyramid.contains(tile) else {
      return nil
    }
    return tile
  }

  func link(in pyramid: Pyramid) -> String? {
    path.withUnsafeBytes {
      request.link(Self.target($0), to: place(in: pyramid), in: pyramid, PictureLimits())?.text(
        base: "http://host")
    }
  }
}
