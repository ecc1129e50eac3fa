package import Files
package import Metadata
import TileStorage

extension Library {
  /// What describes a book as a whole, beside its pages; nil where nothing does, or nothing that can be used.
  package func description(ofBook id: ImageID) -> BookDescription? {
    let path = FolderStore.bookFile(of: id, in: root)
    guard let bytes = current.bytes(ofFile: path, atMost: BookDescription.longest + 1) else { return nil }
    return try? BookDescription(json: bytes)
  }
}
