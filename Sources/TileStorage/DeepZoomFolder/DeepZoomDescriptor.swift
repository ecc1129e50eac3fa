package import Foundation
package import TileGeometry
package import ZigguratFiles

/// The `.dzi` file: `<Image>` with its `<Size>`, schema `http://schemas.microsoft.com/deepzoom/2008`.
package struct DeepZoomDescriptor: Hashable, Sendable {
  /// The image's levels and tiles.
  package let pyramid: Pyramid
  /// The format in which all tiles are encoded.
  package let format: TileFormat
  /// The extension of the tiles' files, as the descriptor spells it.
  package let fileExtension: String

  /// Creates the descriptor of a pyramid whose tiles have the format's own extension.
  package init(pyramid: Pyramid, format: TileFormat) {
    self.pyramid = pyramid
    self.format = format
    fileExtension = format.fileExtension
  }

  /// Parses a descriptor; the error states which value is missing or out of range.
  package init(xml: Data) throws(StorageError) {
    let action = "read the Deep Zoom descriptor"
    /// Returns untrusted text in short form and on one line.
    func quoted(_ text: String) -> String {
      let scalars = text.prefix(40).unicodeScalars.map {
        $0.properties.generalCategory == .control ? " " : $0
      }
      return "'\(String(String.UnicodeScalarView(scalars)))'"
    }
    // Real descriptors have some 200 bytes.
    guard xml.count <= InputLimit.descriptor.bytes else {
      throw StorageError(action, "\(xml.count) bytes are too many")
    }
    // The attributes of the root and of its children, by `Element.Attribute`.
    var values: [String: String] = [:]
    do throws(XMLElements.ValidationError) {
      try XMLElements.read(
        Array(xml),
        begin: { element in
          guard element.depth <= 2 else { return true }
          for each in element.values { values["\(element.name).\(each.name)"] = each.value }
          return true
        })
    } catch { throw StorageError(action, error.reason) }
    func number(_ name: String, _ range: ClosedRange<Int>) throws(StorageError) -> Int {
      guard let text = values[name] else { throw StorageError(action, "no \(name)") }
      guard let value = Int(text), range.contains(value) else {
        throw StorageError(action, "\(name) is \(quoted(text)), not within \(range)")
      }
      return value
    }
    let side = 1...(1 << 40)
    let size = PixelSize(
      width: try number("Size.Width", side), height: try number("Size.Height", side))
    let tileSize = try number("Image.TileSize", 1...(1 << 16))
    let overlap = try number("Image.Overlap", 0...(tileSize - 1))
    guard let ending = values["Image.Format"] else { throw StorageError(action, "no Image.Format") }
    guard let format = TileFormat(fileExtension: ending) else {
      let known = TileFormat.allCases.flatMap(\.extensions).joined(separator: ", ")
      throw StorageError(action, "Image.Format is \(quoted(ending)), not one of \(known)")
    }
    // Numbers of pixels, and small multiples of them, must not overflow.
    guard let size, size.width <= (1 << 60) / size.height,
      let pyramid = Pyramid(imageSize: size, tileSize: tileSize, overlap: overlap)
    else { throw StorageError(action, "more pixels than can be counted") }
    self.pyramid = pyramid
    self.format = format
    fileExtension = ending
  }

  /// The descriptor as a file's content, UTF-8.
  package var xml: String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <Image xmlns="http://schemas.microsoft.com/deepzoom/2008" Format="\(fileExtension)" \
    Overlap="\(pyramid.overlap)" TileSize="\(pyramid.tileSize)">\
    <Size Width="\(pyramid.imageSize.width)" Height="\(pyramid.imageSize.height)"/></Image>

    """
  }
}
