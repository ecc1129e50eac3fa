/// Orientation: EXIF rotation and flips.
extension Image {
  /// Returns the image in its upright orientation by EXIF; its orientation is then 1.
  package func autorotated() throws(ImagingError) -> Image {
    try Operation.run("autorot", subject, ["in": .image(self)])
  }

  /// Returns the image flipped vertically.
  package func flippedVertically() throws(ImagingError) -> Image {
    try Operation.run("flip", subject, ["in": .image(self), "direction": .name("vertical")])
  }
}
