package import TileGeometry
package import ZigguratFiles

/// A part of an image that becomes an image of its own: what the server cuts out at full resolution.
package struct CropRequest: Codable, Hashable, Sendable {
  /// The image that contains the part.
  package let image: ImageID
  /// The part in image space, before anything is turned: whole pixels. One that is straightened may reach beyond the image
  /// there, as long as it does not as it is turned.
  package let x, y, width, height: Int
  /// Degrees clockwise by which the part is turned, after it may have been mirrored left to right: 0, 90, 180, 270.
  package let turn: Int
  package let isFlipped: Bool
  /// Degrees clockwise, -45…45, by which the picture is turned besides, about the part's centre, below a part that keeps
  /// its place and size.
  package let straightening: Double

  package init(
    of image: ImageID, x: Int, y: Int, width: Int, height: Int, turn: Int, isFlipped: Bool,
    straightening: Double
  ) {
    self.image = image
    self.x = x
    self.y = y
    self.width = width
    self.height = height
    self.turn = turn
    self.isFlipped = isFlipped
    self.straightening = straightening
  }

  /// Pixels that one copy may have: they are put together in memory.
  package static let mostPixels = 100_000_000

  /// The part, image space.
  package var part: PixelRect { PixelRect(x: x, y: y, width: width, height: height) }

  /// The whole rotation of the picture, mirroring and straightening included.
  package var rotation: Rotation { Rotation(degrees: Double(turn) + straightening, isFlipped: isFlipped) }

  /// The window that shows the part alone, one pixel a pixel.
  package var window: Viewport {
    let isUpright = turn % 180 == 0
    let (width, height) = (Double(width), Double(height))
    return Viewport(
      width: isUpright ? width : height, height: isUpright ? height : width, scale: 1, x: 0, y: 0,
      rotation: rotation
    ).centered(on: Point(x: Double(x) + width / 2, y: Double(y) + height / 2))
  }

  /// Whether nothing is in the part but the image of that size.
  package func isInside(_ image: PixelSize) -> Bool {
    guard width > 0, height > 0 else { return false }
    guard straightening != 0 else {
      return x >= 0 && y >= 0 && width <= image.width && height <= image.height && x <= image.width - width
        && y <= image.height - height
    }
    let window = window
    // What arithmetic leaves of a corner on the edge.
    let slack = 1e-6
    return [(0, 0), (window.width, 0), (0, window.height), (window.width, window.height)].allSatisfy {
      let point = window.imagePoint(ofViewport: Point(x: $0.0, y: $0.1))
      return point.x >= -slack && point.y >= -slack && point.x <= Double(image.width) + slack
        && point.y <= Double(image.height) + slack
    }
  }

  /// The maximum size of its file, bytes.
  var mostBytes: Int { 4 * width * height + (1 << 20) }
}

extension Uploads {
  /// An upload that nobody sends: the server makes its file once it is its turn, and an image of that.
  /// - Parameters:
  ///   - name: what its file would be called.
  ///   - folder: of the library; empty for the library itself.
  package func begin(_ copy: CropRequest, name: String, folder: String) throws(UploadError) -> Upload {
    let upload = try reserve(name: name, folder: folder, length: copy.mostBytes, copy: copy)
    try create(upload)
    return upload
  }
}
