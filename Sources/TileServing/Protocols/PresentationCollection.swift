import Catalog
import Files
import HTTPMessages
import ImageLibrary
import TileStorage

/// IIIF Presentation 3.0 of a library. Collections are not paged in that version: a large library is a
/// collection of collections of `pageSize`.
struct PresentationCollection {
  static let pageSize = 500

  /// The images of the space that is unlocked, then everybody's.
  let shelves: [(isPrivate: Bool, catalog: Catalog)]
  let base: String

  private var root: String { "\(base)/iiif/presentation/3/collection" }

  /// - Parameter page: from 1; nil for the whole library.
  /// - Returns: nil where there is no such page.
  func json(page: Int?) throws(StorageError) -> JSONValue? {
    var count = 0
    for shelf in shelves { count += try shelf.catalog.itemCount() }
    let pages = max(1, (count + Self.pageSize - 1) / Self.pageSize)
    if let page {
      guard pages > 1, page >= 1, page <= pages else { return nil }
      var result = collection("\(root)/\(page)", label(page, count), try manifests(page))
      result["partOf"] = [["id": .text(root), "type": "Collection"]]
      return result
    }
    guard pages > 1 else { return collection(root, "Library", try manifests(1)) }
    return collection(
      root, "Library",
      (1...pages).map {
        ["id": "\(root)/\($0)", "type": "Collection", "label": PresentationManifest.text(label($0, count))]
      })
  }

  private func manifests(_ page: Int) throws(StorageError) -> [JSONValue] {
    try items(page).map { item in
      [
        "id": .text(PresentationManifest.url(ofID: item.id, base: base)), "type": "Manifest",
        "label": PresentationManifest.text(item.title ?? item.id.name),
      ]
    }
  }

  private func items(_ page: Int) throws(StorageError) -> [Catalog.Item] {
    var (first, found) = ((page - 1) * Self.pageSize, [Catalog.Item]())
    for (isPrivate, catalog) in shelves where found.count < Self.pageSize {
      for item in try catalog.items(from: first, limit: Self.pageSize - found.count) {
        var item = item
        if isPrivate { item.id = item.id.marked }
        found.append(item)
      }
      first = max(0, first - (try catalog.itemCount()))
    }
    return found
  }

  private func label(_ page: Int, _ count: Int) -> String {
    "\((page - 1) * Self.pageSize + 1)–\(min(page * Self.pageSize, count))"
  }

  private func collection(_ id: String, _ label: String, _ items: [JSONValue]) -> JSONValue {
    [
      "@context": .text(PresentationManifest.context), "id": .text(id), "type": "Collection",
      "label": PresentationManifest.text(label), "items": .list(items),
    ]
  }
}
