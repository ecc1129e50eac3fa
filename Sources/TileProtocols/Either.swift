import TileGeometry

/// A request of one of two protocols; nested as the second, of any number. All types are concrete, so that a request
/// crosses no existential. The functions are inlined, so that it is not copied from each into the next.
enum Either<First: TileProtocol, Other: TileProtocol>: TileProtocol {
  case first(First)
  case other(Other)

  static var labels: [String] { First.labels + Other.labels }

  static func urls(ofID id: String, base: String, ending: String) -> [(name: String, url: String)] {
    First.urls(ofID: id, base: base, ending: ending) + Other.urls(ofID: id, base: base, ending: ending)
  }

  static var parameters: [String] { First.parameters + Other.parameters }
  static var idParameters: [String] { First.idParameters + Other.idParameters }

  @inline(__always)
  static func has(_ path: RawPath) -> Bool { First.has(path) || Other.has(path) }

  @inline(__always)
  init(_ path: RawPath) { self = First.has(path) ? .first(First(path)) : .other(Other(path)) }

  @inline(__always)
  var label: Int {
    switch self {
    case .first(let request): request.label
    case .other(let request): First.labels.count + request.label
    }
  }

  @inline(__always)
  var id: Range<Int> {
    switch self {
    case .first(let request): request.id
    case .other(let request): request.id
    }
  }

  @inline(__always)
  func endingLength(_ path: RawPath) -> Int {
    switch self {
    case .first(let request): request.endingLength(path)
    case .other(let request): request.endingLength(path)
    }
  }

  @inline(__always)
  var wholeID: Range<Int>? {
    switch self {
    case .first(let request): request.wholeID
    case .other(let request): request.wholeID
    }
  }

  @inline(__always)
  var subject: TileSubject {
    switch self {
    case .first(let request): request.subject
    case .other(let request): request.subject
    }
  }

  @inline(__always)
  var format: PictureFormat? {
    switch self {
    case .first(let request): request.format
    case .other(let request): request.format
    }
  }

  @inline(__always)
  func place(in pyramid: Pyramid, _ limits: PictureLimits) -> TileResolution {
    switch self {
    case .first(let request): request.place(in: pyramid, limits)
    case .other(let request): request.place(in: pyramid, limits)
    }
  }

  @inline(__always)
  func link(
    _ path: RawPath, to place: TileResolution, in pyramid: Pyramid, _ limits: PictureLimits
  ) -> IIIFTileLink? {
    switch self {
    case .first(let request): request.link(path, to: place, in: pyramid, limits)
    case .other(let request): request.link(path, to: place, in: pyramid, limits)
    }
  }

  func document(of image: DescribedImage) -> TileDocument {
    switch self {
    case .first(let request): request.document(of: image)
    case .other(let request): request.document(of: image)
    }
  }

  func location(ofID id: String, base: String) -> String {
    switch self {
    case .first(let request): request.location(ofID: id, base: base)
    case .other(let request): request.location(ofID: id, base: base)
    }
  }
}
