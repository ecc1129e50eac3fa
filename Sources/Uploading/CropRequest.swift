package import TileGeometry
package import ZigguratFiles

/// A part of an image that becomes an image of its own. The server crops it at full resolution.
package struct CropRequest: Codable, Hashable, Sendable {
  /// The image that contains the part.
  package let image: ImageID
  /// The part in image space before the rotation, in whole pixels. A straightened part may reach beyond the image here,
  /// but not after its rotation.
  package let x, y, width, height: Int
  /// The rotation of the part in degrees clockwise, after it may have been mirrored left to right: 0, 90, 180 or 270.
  package let turn: Int
  package let isFlipped: Bool
  /// An additional rotation of the picture in degrees clockwise, -45…45, about the centre of the part. The part keeps
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

  /// The maximum number of pixels of a crop, which is assembled in memory.
  package static let maxPixels = 100_000_000

  /// The part in image space.
  package var part: PixelRect { PixelRect(x: x, y: y, width: width, height: height) }

  /// The whole rotation of the picture, mirroring and straightening included.
  package var rotation: Rotation { Rotation(degrees: Double(turn) + straightening, isFlipped: isFlipped) }

  /// The viewport that shows only the part, at one pixel for each pixel.
  package var window: Viewport {
    let isUpright = turn % 180 == 0
    let (width, height) = (Double(width), Double(height))
    return Viewport(
      width: isUpright ? width : height, height: isUpright ? height : width, scale: 1, x: 0, y: 0,
      rotation: rotation
    ).centered(on: Point(x: Double(x) + width / 2, y: Double(y) + height / 2))
  }

  /// Whether the part is inside an image of a size.
  package func isInside(_ image: PixelSize) -> Bool {
    guard width > 0, height > 0 else { return false }
    guard straightening != 0 else {
      return x >= 0 && y >= 0 && width <= image.width && height <= image.height && x <= image.width - width
        && y <= image.height - height
    }
    let window = window
    // A rounding error of a corner on the edge.
    let slack = 1e-6
    return [(0, 0), (window.width, 0), (0, window.height), (window.width, window.height)].allSatisfy {
      let point = window.imagePoint(ofViewport: Point(x: $0.0, y: $0.1))
      return point.x >= -slack && point.y >= -slack && point.x <= Double(image.width) + slack
        && point.y <= Double(image.height) + slack
    }
  }

  /// The maximum size of its file in bytes.
  var maxBytes: Int { 4 * width * height + (1 << 20) }
}

extension Uploads {
  /// Creates an upload that no client sends. The server creates its file when the upload is processed, and then an
  /// image of it.
  /// - Parameters:
  ///   - name: the name of the file.
  ///   - folder: the folder in the library; empty for the library itself.
  package func begin(_ copy: CropRequest, name: String, folder: String) throws(UploadError) -> Upload {
    let upload = try reserve(name: name, folder: folder, length: copy.maxBytes, copy: copy)
    try create(upload)
    return upload
  }
}
