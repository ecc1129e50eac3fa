package import ZigguratFiles

/// In tests an id is what it is written as.
extension ImageID: ExpressibleByStringInterpolation {
  package init(stringLiteral text: String) {
    guard let id = ImageID(text) else { preconditionFailure("'\(text)' is not an image id") }
    self = id
  }
}
