/// The commands of a query, in any order; case does not matter. If a name is repeated, the last one counts. Commands
/// that IIP does not have are ignored.
struct IIPCommands {
  /// The action of the request: if it has several, the first in this list.
  enum Action {
    case deepZoom(Range<Int>)
    case zoomify(Range<Int>)
    case iiif(Range<Int>)
    case tile(resolution: Int, number: Int, PictureFormat)
    case view
    case objects
  }

  /// The reason why a request is malformed. It contains no string: every copy of a request would have to count its
  /// references.
  enum QueryError {
    case rule(StaticString)
    /// A format in which pictures cannot be encoded.
    case format

    var text: String {
      switch self {
      case .rule(let rule): "\(rule)"
      case .format: "CVT is one of \(PictureFormat.allCases.map { "\($0.ending)" }.joined(separator: ", "))"
      }
    }
  }

  /// The range of the image's name, without leading slashes.
  private(set) var name: Range<Int>?
  private(set) var view = IIPView()
  private(set) var objects = IIPObjects()
  /// The reason why the commands are refused.
  private(set) var error: QueryError?

  private var form: Action?
  private var tile: Action?

  init(_ path: RawPath) {
    let query = path.query
    var at = query.lowerBound
    while at < query.upperBound, error == nil {
      let start = at
      var mark = query.upperBound
      while at < query.upperBound, path.bytes(at..<at + 1)[0] != UInt8(ascii: "&") {
        if mark == query.upperBound, path.bytes(at..<at + 1)[0] == UInt8(ascii: "=") { mark = at }
        at += 1
      }
      // A name without a value is not a command.
      if mark + 1 < at { obey(path, IIPWord(path.bytes(start..<mark)), mark + 1..<at) }
      at += 1
    }
  }

  /// The action; nil if the commands ask for nothing.
  var action: Action? {
    form ?? tile ?? (view.format != nil ? .view : objects.count > 0 ? .objects : nil)
  }

  private mutating func obey(_ path: RawPath, _ command: IIPWord, _ value: Range<Int>) {
    let text = path.bytes(value)
    if command.isSame("fif") {
      name = Self.plain(path, value)
    } else if command.isSame("jtl") {
      set(tile: text, .jpg)
    } else if command.isSame("obj") {
      add(text)
    } else if command.isSame("cvt") {
      set(format: IIPWord(text))
    } else if command.isSame("wid") {
      set(\.width, text, "WID is a number of pixels")
    } else if command.isSame("hei") {
      set(\.height, text, "HEI is a number of pixels")
    } else if command.isSame("rgn") {
      set(region: text)
    } else if command.isSame("qlt") {
      set(quality: text)
    } else if command.isSame("rot") {
      set(rotation: text)
    } else if command.isSame("deepzoom") {
      form = .deepZoom(Self.plain(path, value))
    } else if command.isSame("zoomify") {
      form = .zoomify(Self.plain(path, value))
    } else if command.isSame("iiif") {
      form = .iiif(Self.plain(path, value))
    } else if command.isSame("ptl") {
      set(tile: text, .png)
    } else if command.isSame("wtl") {
      set(tile: text, .webp)
    } else if command.isSame("atl") {
      set(tile: text, .avif)
    } else {
      check(command, text)
    }
  }

  /// Returns the name without leading slashes: a base path with a slash at its end would double them.
  private static func plain(_ path: RawPath, _ value: Range<Int>) -> Range<Int> {
    var start = value.lowerBound
    while start < value.upperBound, path.has("/", at: start) { start += 1 }
    return start..<value.upperBound
  }

  private mutating func set(tile text: UnsafeRawBufferPointer, _ format: PictureFormat) {
    var reader = PathReader(text)
    guard let resolution = reader.digits(), reader.skip(UInt8(ascii: ",")), let number = reader.digits(),
      reader.isAtEnd
    else {
      error = .rule("a tile is asked for by RESOLUTION,TILE")
      return
    }
    tile = .tile(resolution: resolution, number: number, format)
  }

  private mutating func add(_ text: UnsafeRawBufferPointer) {
    guard let object = IIPObjects.Object(text) else {
      error = .rule("there is no such object")
      return
    }
    guard objects.count < IIPObjects.limit else {
      error = .rule("there are more than 16 objects in one request")
      return
    }
    objects.append(object)
  }

  /// Sets the format by its name: the file name extension or the media type's subtype.
  private mutating func set(format name: IIPWord) {
    let format = PictureFormat.allCases.first {
      name.isSame($0.ending) || name.isSame($0.facts.format.mediaType, from: PictureFormat.mediaTypeStart)
    }
    if let format { view.format = format } else { error = .format }
  }

  private mutating func set(
    _ side: WritableKeyPath<IIPView, Int>, _ text: UnsafeRawBufferPointer, _ rule: StaticString
  ) {
    var reader = PathReader(text)
    guard let number = reader.digits(), reader.isAtEnd else {
      error = .rule(rule)
      return
    }
    view[keyPath: side] = number
  }

  private mutating func set(region text: UnsafeRawBufferPointer) {
    var reader = PathReader(text)
    let comma = UInt8(ascii: ",")
    guard let x = reader.part(before: comma).flatMap(Self.number),
      let y = reader.part(before: comma).flatMap(Self.number),
      let width = reader.part(before: comma).flatMap(Self.number), let height = Self.number(reader.rest),
      width > 0, height > 0
    else {
      error = .rule("RGN is x,y,w,h in parts of the image's sides")
      return
    }
    // Numbers are limited so that a pixel's coordinate fits an Int.
    view.region = (min(max(0, x), 1), min(max(0, y), 1), min(1, width), min(1, height))
  }

  private mutating func set(quality text: UnsafeRawBufferPointer) {
    var reader = PathReader(text)
    guard let number = reader.digits(), reader.isAtEnd, number <= 100 else {
      error = .rule("QLT is 0 to 100")
      return
    }
    view.encodingQuality = UInt8(max(1, number))
  }

  private mutating func set(rotation text: UnsafeRawBufferPointer) {
    var reader = PathReader(text)
    view.isMirrored = reader.skip(UInt8(ascii: "!"))
    guard let degrees = IIIFNumber.decimal(reader.rest), degrees <= 360 else {
      error = .rule("ROT is 0 to 360 degrees, with ! in front where it is mirrored")
      return
    }
    let rounded = (degrees * 1e6).rounded() / 1e6
    view.rotation = rounded == 360 ? 0 : rounded
  }

  /// Checks the commands of iipsrv that are not implemented here. They are ignored only if they change nothing.
  private mutating func check(_ command: IIPWord, _ text: UnsafeRawBufferPointer) {
    let isNeutral: Bool
    if command.isSame("cnt") || command.isSame("gam") {
      isNeutral = Self.number(text) == 1
    } else if command.isSame("sds") {
      isNeutral = ["0", "0,0", "0,90"].contains { IIPWord(text).isSame($0) }
    } else {
      isNeutral =
        !(command.isSame("minmax") || command.isSame("shd") || command.isSame("cmp") || command.isSame("inv")
        || command.isSame("ctw") || command.isSame("cnv") || command.isSame("col") || command.isSame("jtls")
        || command.isSame("til") || command.isSame("pfl") || command.isSame("spectra")
        || command.isSame("icc"))
    }
    if !isNeutral {
      error = .rule("this server changes no pixels: of IIPImage's commands it has FIF, OBJ, JTL and CVT")
    }
  }

  private static func number(_ text: UnsafeRawBufferPointer) -> Double? {
    var reader = PathReader(text)
    let isNegative = reader.skip(UInt8(ascii: "-"))
    return IIIFNumber.decimal(reader.rest).map { isNegative ? -$0 : $0 }
  }
}
