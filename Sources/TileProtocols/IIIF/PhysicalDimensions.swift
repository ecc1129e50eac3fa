package import TileStorage
package import ZigguratText

/// The service of physical dimensions (IIIF annex "Linking to External Services", section 3.3): by what a picture's
/// sides are multiplied to have the scene's.
package struct PhysicalDimensions {
  package static let context = "http://iiif.io/api/annex/services/physdim/1/context.json"
  package static let profile = "http://iiif.io/api/annex/services/physdim"
  package static let units = "mm"
  /// Versions 3.0 want one of every service; the annex names none.
  package static let type = "PhysicalDimensions"

  /// What the service of an image or a canvas is called, which nothing is to be had at: all of it is told.
  package static func id(of resource: String) -> String { "\(resource)#physical-dimensions" }

  /// Of a pixel's side.
  package let millimetres: Double

  package init(micronsPerPixel: Double) {
    // A thousandth as a decimal, not as what a binary fraction makes of it.
    millimetres = Double("\(micronsPerPixel)e-3") ?? micronsPerPixel / 1000
  }

  /// As a document of version 3.0 has it.
  package func service(of resource: String) -> JSONValue {
    [
      "@context": .text(Self.context), "id": .text(Self.id(of: resource)), "type": .text(Self.type),
      "profile": .text(Self.profile), "physicalScale": .number(millimetres),
      "physicalUnits": .text(Self.units),
    ]
  }

  /// Nil where the archive does not know, or its pixels are not square.
  package init?(_ archive: TileArchive) {
    guard let microns = archive.squareMicronsPerPixel else { return nil }
    self.init(micronsPerPixel: microns)
  }
}
