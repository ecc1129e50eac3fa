package import TileGeometry
import ZigguratHTTPMessages

/// The IIIF Image API 3.0 and 2.1: `/iiif/{2|3}/{id}/info.json`, the base URI `/iiif/{2|3}/{id}`, and
/// `/iiif/{2|3}/{id}/{region}/{size}/{rotation}/{quality}.{format}`.
package struct IIIFRequest: TileProtocol {
  private enum Asked {
    case information
    case base
    case image(IIIFImageRequest)
    case malformed(IIIFImageRequest.Part)
  }

  private let asked: Asked
  private let version: IIIFVersion
  private let idPart: PathPart
  /// The id and the path behind it.
  private let part: PathPart

  package static let labels = ["iiif2", "iiif3"]

  package static func urls(ofID id: String, base: String, ending: String) -> [(name: String, url: String)] {
    [
      ("iiif3", "\(folder(.three, ofID: id, base: base))/info.json"),
      ("iiif2", "\(folder(.two, ofID: id, base: base))/info.json"),
    ]
  }

  /// Returns the image's base URI (3.0, section 2), without a slash at its end.
  package static func folder(_ version: IIIFVersion, ofID id: String, base: String) -> String {
    "\(base)/iiif/\(version.rawValue)/\(id)"
  }

  package static func has(_ path: RawPath) -> Bool {
    path.starts(with: "/iiif/3/") || path.starts(with: "/iiif/2/")
  }

  package init(_ path: RawPath) {
    self.init(path, 8..<path.count, path.has("3", at: 6) ? .three : .two)
  }

  /// - Parameters:
  ///   - part: the id and the rest of the path.
  ///   - takesNative: whether `native` is accepted as a quality.
  init(_ path: RawPath, _ part: Range<Int>, _ version: IIIFVersion, takesNative: Bool = false) {
    self.version = version
    self.part = PathPart(part)
    let (start, end) = (part.lowerBound, part.upperBound)
    // Parsed from the end, since an id may contain slashes.
    guard let file = path.slash(before: end, from: start) else {
      asked = .base
      idPart = PathPart(start..<end)
      return
    }
    if file == end - 1 || path.isPart("info.json", from: file + 1, to: end) {
      asked = file == end - 1 ? .base : .information
      idPart = PathPart(start..<file)
      return
    }
    guard let rotation = path.slash(before: file, from: start),
      let size = path.slash(before: rotation, from: start), let region = path.slash(before: size, from: start)
    else {
      asked = .base
      idPart = PathPart(start..<end)
      return
    }
    idPart = PathPart(start..<region)
    do throws(IIIFImageRequest.Part) {
      asked = .image(
        try IIIFImageRequest(
          version, region: path.bytes(region + 1..<size), size: path.bytes(size + 1..<rotation),
          rotation: path.bytes(rotation + 1..<file), file: path.bytes(file + 1..<end),
          takesNative: takesNative))
    } catch { asked = .malformed(error) }
  }

  package var id: Range<Int> { idPart.range }

  package var wholeID: Range<Int>? {
    switch asked {
    case .information, .base: nil
    case .image, .malformed: part.range
    }
  }

  package var label: Int { version == .two ? 0 : 1 }

  package var subject: TileSubject {
    switch asked {
    case .information: .document(hasMetadata: false)
    case .base: .redirect
    case .image, .malformed: .tile
    }
  }

  package var format: PictureFormat? {
    guard case .image(let image) = asked else { return nil }
    return image.format
  }

  package func place(in pyramid: Pyramid, _ limits: PictureLimits) -> TileResolution {
    switch asked {
    case .information, .base: return .notFound(.noSuchTile)
    case .malformed(let part): return .notFound(TileRequestError(part.rule(version)))
    case .image(let image):
      do throws(TileRequestError) { return try image.place(in: pyramid, limits) } catch {
        return .notFound(error)
      }
    }
  }

  package func link(
    _ path: RawPath, to place: TileResolution, in pyramid: Pyramid, _ limits: PictureLimits
  ) -> IIIFTileLink? {
    guard case .image(let image) = asked else { return nil }
    switch place {
    case .stored(let tile):
      guard let stored = image.picture(of: tile, in: pyramid) else { return nil }
      return IIIFTileLink(version, id: path.bytes(id), stored, of: pyramid.imageSize, limits)
    case .picture(let picture):
      let isTile =
        version == .two
        && IIIFGrid.tile(pyramid, picture.region, width: picture.size.width, height: nil) != nil
      return IIIFTileLink(
        version, id: path.bytes(id), picture, of: pyramid.imageSize, limits, statesHeight: isTile)
    case .crop, .notFound: return nil
    }
  }

  package func document(of image: DescribedImage) -> TileDocument {
    document(of: image, at: Self.folder(version, ofID: PercentEncoding.encode(image.id), base: image.base))
  }

  /// - Parameter location: the image's base URI.
  func document(of image: DescribedImage, at location: String) -> TileDocument {
    IIIFInformation(version: version, id: location, archive: image.archive, limits: image.limits).document
  }

  package func location(ofID id: String, base: String) -> String {
    "\(Self.folder(version, ofID: id, base: base))/info.json"
  }
}
