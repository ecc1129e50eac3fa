import Foundation
package import TileGeometry
package import TileStorage
package import ZigguratFiles

/// What a library's listing tells of one image, without its archive.
package struct CatalogEntry: Hashable, Sendable {
  package var id: ImageID
  package var stamp: FileStamp
  /// Nil where the archive could not be read: nothing else is known then.
  package var pyramid: Pyramid?
  /// The tiles' ending.
  package var format: String
  package var generation: UInt64
  package var metadata: ImageMetadata
  /// Of a multi-page source, counted from 1.
  package var page: Int?
  /// The id of the pages' common source, for a page.
  package var book: ImageID?
  /// What the page is called in its book, where that is no number.
  package var label: String?
  /// Of a book's first page as the catalog lists it.
  package var cover: Cover?
  /// Of the archive; nil where the tiles are files of their own.
  package var bytes: Int?
  /// Across, where the source tells it and its pixels are square to within 1%: what a scale bar needs.
  package var micronsPerPixel: Double?
  /// Whether it moves: its archive has the animation as it came.
  package var isMoving = false
  /// Of the source's content, as its build record has it: what tells that a file is in the library already.
  package var sourceDigest: String?

  package init(id: ImageID, stamp: FileStamp, archive: TileArchive) {
    self.id = id
    self.stamp = stamp
    pyramid = archive.pyramid
    format = archive.format.fileExtension
    generation = archive.generation
    metadata = archive.metadata
    let record = archive.buildRecord
    page = record?.page
    sourceDigest = record?.sourceDigest
    micronsPerPixel = archive.squareMicronsPerPixel
    // By itself the id's end does not tell whose label it is.
    if let part = record?.associatedAs, metadata.title == nil, let slide = id.folder {
      metadata.title = "\(slide.name), \(part)"
    }
    book = record?.book(ofPage: id)
    label = record?.pageLabel
    bytes = archive.byteCount
    isMoving = record?.animation != nil
  }

  /// Of an archive that cannot be read, so that it is not opened again and again.
  package init(unreadable id: ImageID, stamp: FileStamp) {
    self.id = id
    self.stamp = stamp
    pyramid = nil
    format = ""
    generation = 0
    metadata = ImageMetadata()
  }

  /// Whether the sidecar's words are missing, since they could not be read: it has no stamp then.
  package var isWordless: Bool { stamp == .unset }

  /// What a book's first page tells of it.
  package struct Cover: Hashable, Sendable {
    package var pages: Int
    /// Of all its pages, where they have the same.
    package var title: String?

    package init(pages: Int, title: String?) { (self.pages, self.title) = (pages, title) }
  }

  /// What a collection lists it as: the book of a page, or the image itself.
  package var item: ImageID { book ?? id }

  /// What a visitor reads below it; of a page what its book calls it.
  var shownName: String { (book == nil ? nil : label) ?? metadata.title ?? id.name }

  /// Where such a name stands among others: in natural order, whatever its case and accents.
  static func key(ofShown name: String) -> String {
    // No index takes what is very long.
    NaturalOrder.key(
      name.firstScalars(200).folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil))
  }

  /// All that a search looks in, as the index splits it into words.
  var searchText: String { SearchWords.text(of: id, metadata) }
}

/// What changes when an archive or its sidecar is replaced, as far as it lasts beyond a restart of the machine.
package struct FileStamp: Hashable, Sendable {
  package let inode: UInt64
  package let size: Int
  package let modifiedNanoseconds: Int
  /// Differs with every version of the sidecar; 0 without one.
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

  /// No archive's: what has it in the catalog is read again.
  package static let unset = FileStamp(inode: 0, size: -1, modified: 0, sidecar: 0)

  /// The stamp of an archive that could not be read for want of permission: it is read again, too.
  package static let refused = FileStamp(inode: 0, size: -2, modified: 0, sidecar: 0)

  init(inode: Int, size: Int, modified: Int, sidecar: Int) {
    self.inode = UInt64(bitPattern: Int64(inode))
    self.size = size
    modifiedNanoseconds = modified
    self.sidecar = sidecar
  }
}

extension String {
  /// At most so many of its scalars.
  func firstScalars(_ most: Int) -> String {
    // Nearly all texts are shorter, and are not made anew.
    utf8.count <= most ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(most)))
  }
}
