package import TileStorage

/// A protocol's description of an image.
package struct TileDocument: Sendable {
  /// A media type under which the document can be sent.
  package struct Form: Sendable {
    /// The media type in Accept headers.
    package let name: String
    /// The media type in the answer.
    package let mediaType: String
    /// The value of the Link header; nil if the form has none.
    package let link: String?

    package init(name: String, mediaType: String, link: String? = nil) {
      self.name = name
      self.mediaType = mediaType
      self.link = link
    }
  }

  package let bytes: [UInt8]
  /// The forms among which the client chooses, the preferred one first.
  package let forms: [Form]

  init(_ bytes: [UInt8], _ mediaType: String) {
    self.init(bytes, [Form(name: mediaType, mediaType: mediaType, link: nil)])
  }

  init(_ bytes: [UInt8], _ forms: [Form]) {
    self.bytes = bytes
    self.forms = forms
  }
}

/// The input of a document: an image, its id, and its URLs.
package struct DescribedImage {
  package let id: String
  /// The start of every URL: absolute, without a slash at its end.
  package let base: String
  package let archive: TileArchive
  /// The archive's metadata, combined with its sidecar's if the request asks for these.
  package let metadata: ImageMetadata
  package let limits: PictureLimits

  package init(
    id: String, base: String, archive: TileArchive, metadata: ImageMetadata, limits: PictureLimits
  ) {
    self.id = id
    self.base = base
    self.archive = archive
    self.metadata = metadata
    self.limits = limits
  }
}
