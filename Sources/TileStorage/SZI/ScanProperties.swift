public import TileGeometry
import ZigguratFiles

/// `scan-properties.xml`: properties of an SZI's image (SZI 1.2). Without a date, so that the same source gives the
/// same bytes.
package struct ScanProperties: Hashable, Sendable {
  /// The size of the image at full resolution, in pixels.
  package let imageSize: PixelSize
  /// Microns per image pixel, across and down, if they are known.
  package let micronsPerPixel: Point?

  /// Creates the properties of an image.
  package init(imageSize: PixelSize, micronsPerPixel: Point? = nil) {
    self.imageSize = imageSize
    self.micronsPerPixel = micronsPerPixel
  }

  /// The properties as a file's content, UTF-8.
  package var xml: String {
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

/// The scale of other programs' archives.
extension ScanProperties {
  package static let entryName = "scan-properties.xml"

  /// Returns the microns per image pixel, across and down; nil if the text does not state them or is invalid.
  package static func micronsPerPixel(xml bytes: UnsafeRawBufferPointer) -> [Double]? {
    guard bytes.count <= InputLimit.scanProperties.bytes else { return nil }
    let xml = Array(bytes)
    var (name, value, text): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
    var found: [String: Double] = [:]
    let status: Void? = try? XMLElements.read(
      xml,
      begin: { element in
        text = []
        if element.name == "property" { (name, value) = ([], []) }
        return true
      }, text: { if text.count < 100 { text += $0 } },
      end: { element in
        switch element {
        case "name": name = text
        case "value": value = text
        case "property":
          found[Self.word(name)] = Double(Self.word(value)).flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
        default: break
        }
      })
    guard status != nil else { return nil }
    let both = found["MicronsPerPixel"]
    guard let x = found["MicronsPerPixelX"] ?? both, let y = found["MicronsPerPixelY"] ?? both else {
      return nil
    }
    return [x, y]
  }

  private static func word(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
  }
}

extension TileArchive {
  /// The size of an image pixel in microns, across (`x`) and down (`y`); `nil` if the archive does not state it.
  public var micronsPerPixel: Point? {
    let microns =
      if let record = buildRecord {
        record.micronsPerPixel
      } else {
        entry(ScanProperties.entryName).flatMap(ScanProperties.micronsPerPixel)
      }
    guard let microns, microns.count == 2 else { return nil }
    return Point(x: microns[0], y: microns[1])
  }
}
