import ZigguratTileProtocols

/// A part of the API, below `/api/`.
package enum APIRequest: Sendable {
  case session
  case images
  case image(ImageRequest)
  case trash
  /// - Parameter deletion: the position of the deletion's name.
  case restore(deletion: Range<Int>)
  case uploads
  /// - Parameter id: the position of the id; `nil` if the text cannot be one.
  case upload(id: Range<Int>?)
  case events
  case pairing
  case version
  case nothing

  init?(_ path: RawPath) {
    guard path.starts(with: "/api/") else { return nil }
    let end = path.count
    if path.has("images", at: 5) {
      self = end == 11 ? .images : path.has("/", at: 11) ? .image(ImageRequest(path, 12..<end)) : .nothing
    } else if path.has("uploads", at: 5) {
      if end == 12 {
        self = .uploads
      } else if path.has("/", at: 12) {
        self = .upload(id: path.slash(before: end, from: 13) == nil ? 13..<end : nil)
      } else {
        self = .nothing
      }
    } else if path.isPart("session", from: 5, to: end) {
      self = .session
    } else if path.isPart("events", from: 5, to: end) {
      self = .events
    } else if path.isPart("pairing.svg", from: 5, to: end)
      || path.isPart(DeprecatedNames.pairing, from: 5, to: end)
    {
      self = .pairing
    } else if path.isPart("version", from: 5, to: end) {
      self = .version
    } else {
      self = Self.trash(path, "trash") ?? Self.trash(path, DeprecatedNames.trash) ?? .nothing
    }
  }

  private static func trash(_ path: RawPath, _ name: StaticString) -> Self? {
    let (end, start) = (path.count, 5 + name.utf8CodeUnitCount + 1)
    guard path.has(name, at: 5) else { return nil }
    if end == start - 1 { return .trash }
    guard path.has("/", at: start - 1), path.has("/restore", before: end, from: start),
      path.slash(before: end - 8, from: start) == nil
    else { return nil }
    return .restore(deletion: start..<end - 8)
  }
}

/// A request for an image or one of its subresources. Ids may contain slashes and thus end like a subresource.
package struct ImageRequest: Sendable {
  /// The subresource that follows the id.
  enum Subresource {
    case viewport
    case viewportTiles
    /// - Parameter ending: the position of the picture's format.
    case viewportPicture(ending: Range<Int>)
    case animation
    /// The original file of the image.
    case original
    case move
    case copies
  }

  /// The position of the id if the whole path is an id.
  let whole: Range<Int>
  /// The position of the id before the subresource; equal to `whole` without one.
  let id: Range<Int>
  let question: Subresource?

  fileprivate init(_ path: RawPath, _ whole: Range<Int>) {
    self.whole = whole
    let end = whole.upperBound
    guard let slash = path.slash(before: end, from: whole.lowerBound) else {
      id = whole
      question = nil
      return
    }
    let start = slash + 1
    let question: Subresource? =
      if path.isPart("viewport", from: start, to: end) {
        .viewport
      } else if path.isPart("viewport.tiles", from: start, to: end) {
        .viewportTiles
      } else if path.has("viewport.", at: start) {
        .viewportPicture(ending: start + 9..<end)
      } else if path.isPart("animation", from: start, to: end) {
        .animation
      } else if path.isPart("original", from: start, to: end) {
        .original
      } else if path.isPart("move", from: start, to: end) {
        .move
      } else if path.isPart("copies", from: start, to: end) {
        .copies
      } else {
        nil
      }
    self.question = question
    id = question == nil ? whole : whole.lowerBound..<slash
  }
}
