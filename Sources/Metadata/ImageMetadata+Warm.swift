public import TileStorage

extension ImageMetadata {
  /// Does what the first reading of metadata would have to wait for; reads nothing.
  public static func warm() { precondition(MetadataFile.isReady, "Exiv2 cannot be started") }
}
