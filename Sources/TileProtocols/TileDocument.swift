package import TileStorage

/// A description of an image as a protocol has it.
package struct TileDocument: Sendable {
  /// A media type that the document can be called.
  package struct Form: Sendable {
    /// As Accept headers name it.
    package let name: String
    /// As the answer names it.
    package let mediaType: String
    /// A Link header; nil where none belongs to it.
    package let link: String?

    package init(name: String, mediaType: String, link: String? = nil) {
      self.name = name
      self.mediaType = mediaType
      self.link = link
    }
  }

  package let bytes: [UInt8]
  /// The preferred one first; of several the client chooses.
  package let forms: [Form]

  init(_ bytes: [UInt8], _ mediaType: String) {
    self.init(bytes, [Form(name: mediaType, mediaType: mediaType, link: nil)])
  }

  init(_ bytes: [UInt8], _ forms: [Form]) { (self.bytes, self.forms) = (bytes, forms) }
}

/// What a document tells of: an image, what it is called, and where it is to be had.
package struct DescribedImage {
  package let id: String
  /// In front of every URL, absolute, without a slash at its end.
  package let base: String
  package let archive: TileArchive
  /// The archive's, or with its sidecar's words where the request wants these.
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
