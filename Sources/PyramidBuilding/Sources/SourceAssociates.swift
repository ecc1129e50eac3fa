import TileStorage
import ZigguratImaging

/// The associated images of a slide, as entries of its archive (SZI 1.2, `associated_images`).
enum SourceAssociates {
  /// The JPEG quality of pictures that people read; the slide itself has its own.
  private static let quality = 90

  /// - Returns: the names of the written images; nil if none were requested or exist.
  static func append(of route: SourceRoute, to writer: any ArchiveWriter) throws -> [String]? {
    guard route.options.keepsAssociated, route.picture.associated == nil else { return nil }
    let names = route.associated
    for name in names {
      var image = try SourcePicture(
        path: route.picture.path, page: nil, associated: name, contents: route.picture.contents,
        options: route.options
      ).open(.sequential)
      if image.hasAlpha { image = try image.flattened(over: route.options.background) }
      try writer.append("associated_images/\(name.rawValue).jpg", image.jpegBytes(quality: quality))
    }
    return names.isEmpty ? nil : names.map(\.rawValue)
  }
}
