package import TileStorage
package import ZigguratText

/// The service of physical dimensions: the factor that converts lengths in a picture to lengths in the scene (IIIF
/// annex "Linking to External Services", section 3.3).
package struct PhysicalDimensions {
  package static let context = "http://iiif.io/api/annex/services/physdim/1/context.json"
  package static let profile = "http://iiif.io/api/annex/services/physdim"
  package static let units = "mm"
  /// Versions 3.0 require a type of every service; the annex defines none.
  package static let type = "PhysicalDimensions"

  /// Returns the id of the service of an image or a canvas. No document exists there: the service is embedded whole.
  package static func id(of resource: String) -> String { "\(resource)#physical-dimensions" }

  /// Length of a pixel's side in millimetres.
  package let millimetres: Double

  package init(micronsPerPixel: Double) {
    // A thousandth of the decimal number: division would add the error of a binary fraction.
    millimetres = Double("\(micronsPerPixel)e-3") ?? micronsPerPixel / 1000
  }

  /// Returns the service for a document of version 3.0.
  package func service(of resource: String) -> JSONValue {
    [
      "@context": .text(Self.context), "id": .text(Self.id(of: resource)), "type": .text(Self.type),
      "profile": .text(Self.profile), "physicalScale": .number(millimetres),
      "physicalUnits": .text(Self.units),
    ]
  }

  /// Creates the service of an archive; nil if its pixel size is unknown or its pixels are not square.
  package init?(_ archive: TileArchive) {
    guard let microns = archive.squareMicronsPerPixel else { return nil }
    self.init(micronsPerPixel: microns)
  }
}
