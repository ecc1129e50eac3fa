public import TileGeometry

/// `scan-properties.xml`: what an SZI says of its image (SZI 1.2). Without a date, so that the same
/// source gives the same bytes.
public struct ScanProperties: Hashable, Sendable {
  /// The image's extent at full resolution.
  public let imageSize: PixelSize
  /// Microns per image pixel, across and down, where they are known.
  public let micronsPerPixel: Point?

  /// The properties of an image.
  public init(imageSize: PixelSize, micronsPerPixel: Point? = nil) {
    (self.imageSize, self.micronsPerPixel) = (imageSize, micronsPerPixel)
  }

  /// The properties as a file's content, UTF-8.
  public var xml: String {
    var properties = [
      ("ImageWidth", "gint", "\(imageSize.width)"), ("ImageHeight", "gint", "\(imageSize.height)"),
    ]
    if let microns = micronsPerPixel {
      if microns.x == microns.y { properties.append(("MicronsPerPixel", "gdouble", "\(microns.x)")) }
      properties.append(("MicronsPerPixelX", "gdouble", "\(microns.x)"))
      properties.append(("MicronsPerPixelY", "gdouble", "\(microns.y)"))
    }
    var xml = "<?xml version=\"1.0\"?>\n<image xmlns=\"http://www.pathozoom.com/szi\" version=\"1.0\">\n"
    xml += "  <properties>\n"
    for (name, type, value) in properties {
      xml += "    <property>\n      <name>\(name)</name>\n      <value type=\"\(type)\">\(value)</value>\n"
      xml += "    </property>\n"
    }
    return xml + "  </properties>\n</image>\n"
  }
}
