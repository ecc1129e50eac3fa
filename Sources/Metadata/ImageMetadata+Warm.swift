package import TileStorage

extension ImageMetadata {
  /// Does what the first reading of metadata would have to wait for; reads nothing.
  package static func warm() { precondition(MetadataFile.isReady, "Exiv2 cannot be started") }
}
