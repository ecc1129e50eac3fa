package import ZigguratFiles

/// In tests an id is what it is written as.
extension ImageID: ExpressibleByStringInterpolation {
  package init(stringLiteral text: String) {
    guard let id = ImageID(text) else { preconditionFailure("'\(text)' is not an image id") }
    self = id
  }
}

/// In tests a reference is the text that a URL has.
extension ImageReference: ExpressibleByStringInterpolation {
  package init(stringLiteral text: String) {
    guard let reference = ImageReference(text) else {
      preconditionFailure("'\(text)' names no image")
    }
    self = reference
  }
}
