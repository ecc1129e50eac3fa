package import TileGeometry
import ZigguratHTTPMessages

/// The Internet Imaging Protocol (1.0.5) in the dialect of iipsrv: `/iip?FIF={id}&JTL={resolution},{tile}`, OBJ and
/// CVT. Its forms of other protocols, `/iip?DeepZoom=…`, `Zoomify=…` and `IIIF=…`, are parsed by these protocols'
/// types.
package struct IIPRequest: TileProtocol {
  private enum Asked {
    case tile(PathPart, resolution: Int, number: Int, PictureFormat)
    case view(PathPart, IIPView)
    case objects(PathPart, IIPObjects)
    case deepZoom(DeepZoomRequest)
    case zoomify(ZoomifyRequest)
    case iiif(IIIFRequest)
    case malformed(IIPCommands.QueryError)
  }

  private let asked: Asked

  package static let labels = ["iip"]
  package static let parameters =
    idParameters + [
      "obj", "jtl", "ptl", "wtl", "atl", "cvt", "wid", "hei", "rgn", "qlt", "rot", "sds", "cnt", "gam",
    ]
  package static let idParameters = ["fif", "deepzoom", "zoomify", "iiif"]

  package static func urls(ofID id: String, base: String, ending: String) -> [(name: String, url: String)] {
    [("iip", "\(base)/iip?FIF=\(id)")]
  }

  package static func has(_ path: RawPath) -> Bool { path.isPart("/iip", from: 0, to: path.count) }

  package init(_ path: RawPath) {
    let commands = IIPCommands(path)
    let name = commands.name ?? 0..<0
    if let error = commands.error {
      asked = .malformed(error)
    } else if Self.isMalformed(path.bytes(path.query)) {
      asked = .malformed(.rule("the query has a malformed escape"))
    } else {
      asked =
        switch commands.action {
        case .deepZoom(let part): .deepZoom(DeepZoomRequest(path, part))
        case .zoomify(let part): .zoomify(ZoomifyRequest(path, part))
        // iipsrv lists the quality name of version 1.
        case .iiif(let part): .iiif(IIIFRequest(path, part, .two, takesNative: true))
        case nil: .malformed(.rule("one of JTL, CVT and OBJ says what is wanted"))
        case _ where name.isEmpty: .malformed(.rule("FIF names the image"))
        case .tile(let resolution, let number, let format):
          .tile(PathPart(name), resolution: resolution, number: number, format)
        case .view: .view(PathPart(name), commands.view)
        case .objects: .objects(PathPart(name), commands.objects)
        }
    }
  }

  /// Whether escapes are invalid, or a space is sent as a plus, which IIP does not allow.
  private static func isMalformed(_ query: UnsafeRawBufferPointer) -> Bool {
    var at = 0
    while at < query.count {
      if query[at] == UInt8(ascii: "+") { return true }
      if query[at] == UInt8(ascii: "%") {
        guard at + 2 < query.count, PercentEncoding.hexDigit(query[at + 1]) != nil,
          PercentEncoding.hexDigit(query[at + 2]) != nil
        else { return true }
      }
      at += 1
    }
    return false
  }

  package var id: Range<Int> {
    switch asked {
    case .tile(let name, _, _, _), .view(let name, _), .objects(let name, _): name.range
    case .deepZoom(let request): request.id
    case .zoomify(let request): request.id
    case .iiif(let request): request.id
    case .malformed: 0..<0
    }
  }

  /// Returns the length of the file name extension with its point. It has letters and digits alone, which need no
  /// escape.
  package func endingLength(_ path: RawPath) -> Int {
    let name = path.bytes(id)
    var at = name.count - 1
    while at > 0, name.count - at <= 5 {
      switch name[at] {
      case UInt8(ascii: "."): return name.count - at
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: at -= 1
      default: return 0
      }
    }
    return 0
  }

  package var wholeID: Range<Int>? {
    guard case .iiif(let request) = asked else { return nil }
    return request.wholeID
  }

  package var subject: TileSubject {
    switch asked {
    case .tile, .view: .tile
    case .objects: .document(hasMetadata: false)
    case .deepZoom(let request): request.subject
    case .zoomify(let request): request.subject
    case .iiif(let request): request.subject
    case .malformed(let error): .malformed(error.text)
    }
  }

  package var format: PictureFormat? {
    switch asked {
    case .tile(_, _, _, let format): format
    case .view(_, let view): view.format
    case .deepZoom(let request): request.format
    case .zoomify(let request): request.format
    case .iiif(let request): request.format
    case .objects, .malformed: nil
    }
  }

  package func place(in pyramid: Pyramid, _ limits: PictureLimits) -> TileResolution {
    switch asked {
    case .tile(_, let resolution, let number, _): IIPGrid(pyramid).place(resolution: resolution, tile: number)
    case .view(_, let view): view.place(in: pyramid, limits)
    case .deepZoom(let request): request.place(in: pyramid, limits)
    case .zoomify(let request): request.place(in: pyramid, limits)
    case .iiif(let request): request.place(in: pyramid, limits)
    case .objects, .malformed: .notFound(.noSuchTile)
    }
  }

  package func link(
    _ path: RawPath, to place: TileResolution, in pyramid: Pyramid, _ limits: PictureLimits
  ) -> IIIFTileLink? {
    guard case .iiif(let request) = asked else { return nil }
    return request.link(path, to: place, in: pyramid, limits)
  }

  package func document(of image: DescribedImage) -> TileDocument {
    switch asked {
    case .deepZoom(let request): request.document(of: image)
    case .zoomify(let request): request.document(of: image)
    case .iiif(let request):
      request.document(of: image, at: Self.address(ofID: PercentEncoding.encode(image.id), image.base))
    case .objects(_, let objects):
      TileDocument(Array(objects.text(image.archive.pyramid).utf8), "application/vnd.netfpx")
    case .tile, .view, .malformed: preconditionFailure("a picture is no document")
    }
  }

  /// Returns the IIIF base URI of an image.
  private static func address(ofID id: String, _ base: String) -> String { "\(base)/iip?IIIF=\(id)" }

  package func location(ofID id: String, base: String) -> String {
    "\(Self.address(ofID: id, base))/info.json"
  }
}
