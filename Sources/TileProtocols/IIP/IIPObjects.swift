import TileGeometry

/// The properties of an image that OBJ commands request, in the order of the request.
struct IIPObjects {
  enum Object: UInt8, CaseIterable {
    case version, basicInformation, server, optionalCommands, optionalObjects, maximumSize, tileSize
    case resolutionCount, resolutions, colorSpace, horizontalViews, verticalViews, channelBits

    /// Creates an object from its name in any case; nil if it does not exist.
    init?(_ name: UnsafeRawBufferPointer) {
      // This object's name is followed by its argument.
      if let end = name.firstIndex(of: UInt8(ascii: ",")),
        IIPWord(UnsafeRawBufferPointer(rebasing: name[..<end])).isSame("colorspace")
      {
        self = .colorSpace
        return
      }
      guard let object = Self.allCases.first(where: { IIPWord(name).isSame($0.name) }) else { return nil }
      self = object
    }

    private var name: StaticString {
      switch self {
      case .version: "iip,1.0"
      case .basicInformation: "basic-info"
      case .server: "iip-server"
      case .optionalCommands: "iip-opt-comm"
      case .optionalObjects: "iip-opt-obj"
      case .maximumSize: "max-size"
      case .tileSize: "tile-size"
      case .resolutionCount: "resolution-number"
      case .resolutions: "resolutions"
      case .colorSpace: "colorspace"
      case .horizontalViews: "horizontal-views"
      case .verticalViews: "vertical-views"
      case .channelBits: "bits-per-channel"
      }
    }

    /// Returns the lines of the answer for this object.
    fileprivate func lines(_ pyramid: Pyramid, _ grid: RoundDownPyramid) -> [String] {
      switch self {
      case .version: return ["IIP:1.0"]
      case .basicInformation:
        let parts: [Object] = [.server, .maximumSize, .resolutionCount, .colorSpace]
        return parts.flatMap { $0.lines(pyramid, grid) }
      // Capabilities as the bits of a number: tiles and whole pictures as JPEG.
      case .server: return ["IIP-server:3.65"]
      case .optionalCommands: return ["IIP-opt-comm:CVT QLT JTL PTL WTL ATL WID HEI RGN ROT"]
      case .optionalObjects:
        return ["IIP-opt-obj:Horizontal-views Vertical-views Tile-size Bits-per-channel Resolutions"]
      case .maximumSize: return ["Max-size:\(pyramid.imageSize.width) \(pyramid.imageSize.height)"]
      case .tileSize: return ["Tile-size:\(pyramid.tileSize) \(pyramid.tileSize)"]
      case .resolutionCount: return ["Resolution-number:\(grid.levelCount)"]
      case .resolutions:
        let sizes = (0..<grid.levelCount).map { grid.size(ofLevel: $0) }
        return ["Resolutions:" + sizes.map { "\($0.width) \($0.height)" }.joined(separator: ",")]
      // Three channels of sRGB, an uncalibrated space, in their order. Tiles are decoded so, also gray ones.
      case .colorSpace: return ["Colorspace,0-\(grid.levelCount - 1),0:0 0 3 3 0 1 2"]
      case .horizontalViews: return ["Horizontal-views:0"]
      case .verticalViews: return ["Vertical-views:90"]
      case .channelBits: return ["Bits-per-channel:8"]
      }
    }
  }

  /// The maximum number of objects in a request.
  static let limit = 16

  /// Four bits each, the first one lowest.
  private var storage: UInt64 = 0
  private(set) var count = 0

  mutating func append(_ object: Object) {
    precondition(count < Self.limit, "there is room for one more")
    storage |= UInt64(object.rawValue) << UInt64(4 * count)
    count += 1
  }

  private var all: [Object] {
    (0..<count).compactMap { Object(rawValue: UInt8(storage >> UInt64(4 * $0) & 15)) }
  }

  /// Returns the answer for an image.
  func text(_ pyramid: Pyramid) -> String {
    let grid = IIPGrid(pyramid).resolutions
    return all.flatMap { $0.lines(pyramid, grid) }.map { $0 + "\r\n" }.joined()
  }
}
