import Foundation
package import TileGeometry
package import TileStorage
package import ZigguratFiles

/// The entry of one image in a library's listing. It is used without opening the archive.
package struct CatalogEntry: Hashable, Sendable {
  package var id: ImageID
  package var fileVersion: FileVersion
  /// The pyramid; nil if the archive could not be read. Nothing else is known then.
  package var pyramid: Pyramid?
  /// The file extension of the tiles.
  package var format: String
  package var generation: UInt64
  package var metadata: ImageMetadata
  /// The page of a multi-page source, counted from 1.
  package var page: Int?
  /// The id of the pages' common source, for a page.
  package var book: ImageID?
  /// The label of the page in its book, if that is not a number.
  package var label: String?
  /// The cover's data, for a book's first page in a list.
  package var cover: Cover?
  /// The size of the archive; nil if the tiles are files of their own.
  package var bytes: Int?
  /// The width of a pixel, if the source states it and pixels are square to within 1%. Scale bars use it.
  package var micronsPerPixel: Double?
  /// Whether the image is animated. Its archive then contains the original animation.
  package var isMoving = false
  /// The digest of the source's content, as in the build record. It finds duplicates.
  package var sourceDigest: String?

  package init(id: ImageID, fileVersion: FileVersion, archive: TileArchive) {
    self.id = id
    self.fileVersion = fileVersion
    pyramid = archive.pyramid
    format = archive.format.fileExtension
    generation = archive.generation
    metadata = archive.metadata
    let record = archive.buildRecord
    page = record?.page
    sourceDigest = record?.sourceDigest
    micronsPerPixel = archive.squareMicronsPerPixel
    // The last part of the id alone does not say to which slide the label belongs.
    if let part = record?.associatedAs, metadata.title == nil, let slide = id.folder {
      metadata.title = "\(slide.name), \(part)"
    }
    book = record?.book(ofPage: id)
    label = record?.pageLabel
    bytes = archive.byteCount
    isMoving = record?.animation != nil
  }

  /// Creates the entry of an archive that cannot be read, so that it is not opened again and again.
  package init(unreadable id: ImageID, fileVersion: FileVersion) {
    self.id = id
    self.fileVersion = fileVersion
    pyramid = nil
    format = ""
    generation = 0
    metadata = ImageMetadata()
  }

  /// Whether the sidecar's metadata is missing because it could not be read. `fileVersion` is unset then.
  package var isWordless: Bool { fileVersion == .unset }

  /// The data of a book that its first page has.
  package struct Cover: Hashable, Sendable {
    package var pages: Int
    /// The common title of all its pages; nil if they differ.
    package var title: String?

    package init(pages: Int, title: String?) {
      self.pages = pages
      self.title = title
    }
  }

  /// The id in a collection: the book of a page, or the image itself.
  package var item: ImageID { book ?? id }

  /// The name below the image; for a page, its label in the book.
  var shownName: String { (book == nil ? nil : label) ?? metadata.title ?? id.name }

  /// Returns the sort key of a shown name: in natural order, without case and accents.
  static func key(ofShown name: String) -> String {
    // Very long keys do not fit into an index.
    NaturalOrder.key(
      name.firstScalars(200).folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil))
  }

  /// The text that searches look in. The index splits it into terms.
  var searchText: String { SearchTerms.text(of: id, metadata) }
}

/// The version of an archive and its sidecar. It stays the same after a restart of the machine.
package struct FileVersion: Hashable, Sendable {
  package let inode: UInt64
  package let size: Int
  package let modifiedNanoseconds: Int
  /// A value that differs for every version of the sidecar; 0 without a sidecar.
  package let sidecar: Int

  package init(_ identity: FileIdentity, sidecar: FileIdentity? = nil) {
    inode = identity.inode
    size = identity.size
    modifiedNanoseconds = identity.modifiedNanoseconds
    self.sidecar =
      sidecar.map {
        $0.modifiedNanoseconds ^ $0.size &* 0x9e37_79b9 ^ Int(truncatingIfNeeded: $0.inode) << 20 | 1
      }
      ?? 0
  }

  /// The version of no archive. An archive that has it in the catalog is read again.
  package static let unset = FileVersion(inode: 0, size: -1, modified: 0, sidecar: 0)

  /// The version of an archive that could not be read for lack of permission. It is read again, too.
  package static let refused = FileVersion(inode: 0, size: -2, modified: 0, sidecar: 0)

  init(inode: Int, size: Int, modified: Int, sidecar: Int) {
    self.inode = UInt64(bitPattern: Int64(inode))
    self.size = size
    modifiedNanoseconds = modified
    self.sidecar = sidecar
  }
}

extension String {
  /// Returns at most the first `most` Unicode scalars.
  func firstScalars(_ most: Int) -> String {
    // Nearly all texts are shorter and are returned without a copy.
    utf8.count <= most ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(most)))
  }
}
