// Formats, pyramids and points are in the signatures of this product, so that a program which imports it alone can name
// them.
@_exported public import TileGeometry
@_exported public import TileStorage
