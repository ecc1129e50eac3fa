package import TileStorage

extension ImageMetadata {
  /// Initializes the library for which the first reading would have to wait; reads nothing.
  package static func preload() { precondition(MetadataFile.isReady, "Exiv2 cannot be started") }
}
