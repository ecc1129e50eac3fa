import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratText

/// An IIIF Presentation 3.0 collection of a library folder: its subfolders, then its images and books.
///
/// That version has no paging. A folder with more than `pageSize` entries therefore consists of collections of that
/// size.
struct PresentationCollection {
  static let pageSize = 500

  /// The catalog of the folder's repository.
  let catalog: Catalog
  /// Returns the title of a book that is described as a whole.
  let titles: (ImageReference) -> String?
  let folder: FolderReference
  /// The private space that is unlocked, which the whole library lists first.
  let space: Catalog?
  let identity: SiteIdentity
  let base: String

  static func url(of folder: FolderReference, base: String) -> String {
    let place = folder.text.map { PercentEncoding.encode($0) + "/" } ?? ""
    return "\(base)/iiif/presentation/3/\(place)collection"
  }

  /// Returns a reference to the folder, for `partOf` of manifests and collections.
  static func reference(to folder: FolderReference, _ identity: SiteIdentity, base: String) -> JSONValue {
    [
      "id": .text(url(of: folder, base: base)), "type": "Collection",
      "label": PresentationManifest.text(name(of: folder, identity)),
    ]
  }

  private static func name(of folder: FolderReference, _ identity: SiteIdentity) -> String {
    folder.id?.name ?? (folder == .space ? "Private" : identity.name ?? "Library")
  }

  /// - Parameter page: the page number from 1; `nil` for the whole folder.
  /// - Returns: `nil` if the folder or page does not exist.
  func json(page: Int?) throws(StorageError) -> JSONValue? {
    let folders = try catalog.folders(in: folder.id)
    let count = try catalog.itemCount(in: folder.id)
    guard folder == .library || !folders.isEmpty || count > 0 else { return nil }
    // Subfolders are also paged if there are more than `pageSize`.
    let turned = folders.count > Self.pageSize ? folders : []
    let isPaged = folders.count + count > Self.pageSize
    let total = turned.count + count
    let pages = (total + Self.pageSize - 1) / Self.pageSize
    if let page {
      guard isPaged, page >= 1, page <= pages else { return nil }
      let range = (page - 1) * Self.pageSize..<min(page * Self.pageSize, total)
      let below = turned[min(range.lowerBound, turned.count)..<min(range.upperBound, turned.count)]
      let first = max(0, range.lowerBound - turned.count)
      let rest = range.count - below.count
      let items = try entries(of: below) + (rest > 0 ? manifests(from: first, limit: rest) : [])
      var result = collection("\(url)/\(page)", Self.label(page, total), items)
      result["partOf"] = [Self.reference(to: folder, identity, base: base)]
      return result
    }
    var items: [JSONValue] = []
    if let space, let first = try space.first(below: nil) {
      items.append(entry(of: .space, picture: FoundEntry(first, in: .space)))
    }
    if turned.isEmpty { items += try entries(of: folders[...]) }
    if isPaged {
      items += (1...pages).map {
        [
          "id": "\(url)/\($0)", "type": "Collection",
          "label": PresentationManifest.text(Self.label($0, total)),
        ]
      }
    } else {
      items += try manifests(from: 0, limit: Self.pageSize)
    }
    return try described(collection(url, Self.name(of: folder, identity), items))
  }

  private var url: String { Self.url(of: folder, base: base) }

  private func found(_ entry: CatalogEntry) -> FoundEntry { FoundEntry(entry, in: folder.repository) }

  private func described(_ collection: JSONValue) throws(StorageError) -> JSONValue {
    var result = collection
    if let first = try catalog.first(below: folder.id) { result["thumbnail"] = [thumbnail(found(first))] }
    // The API's listing of the same folder. The API has no listing of the space alone.
    let query = folder.text.map { "?folder=\(PercentEncoding.encode($0))" } ?? ""
    if folder != .space {
      result["seeAlso"] = [PresentationManifest.dataset("\(base)/api/images\(query)", base: base)]
    }
    if let parent = folder.parent {
      result["partOf"] = [Self.reference(to: parent, identity, base: base)]
    } else {
      result["homepage"] = [
        [
          "id": "\(base)/", "type": "Text", "format": "text/html",
          "label": PresentationManifest.text(Self.name(of: .library, identity)),
        ]
      ]
    }
    return result
  }

  private func entries(of folders: ArraySlice<ImageID>) throws(StorageError) -> [JSONValue] {
    var entries: [JSONValue] = []
    for id in folders {
      let first = try catalog.first(below: id)
      entries.append(
        entry(of: FolderReference(id, in: folder.repository), picture: first.map(found)))
    }
    return entries
  }

  private func entry(of folder: FolderReference, picture: FoundEntry?) -> JSONValue {
    var entry = Self.reference(to: folder, identity, base: base)
    if let picture { entry["thumbnail"] = [thumbnail(picture)] }
    return entry
  }

  private func manifests(from first: Int, limit: Int) throws(StorageError) -> [JSONValue] {
    try catalog.items(in: folder.id, from: first, limit: limit).map { item in
      let reference = ImageReference(item.id, in: folder.repository)
      return [
        "id": .text(PresentationManifest.url(of: reference, base: base)), "type": "Manifest",
        "label": PresentationManifest.text(
          (item.first.book == nil ? nil : titles(reference)) ?? item.title ?? item.id.name),
        "thumbnail": [thumbnail(found(item.first))],
      ]
    }
  }

  private func thumbnail(_ found: FoundEntry) -> JSONValue {
    PresentationManifest(reference: found.reference, pages: [found], base: base).thumbnail(found)
  }

  private static func label(_ page: Int, _ count: Int) -> String {
    "\((page - 1) * pageSize + 1)–\(min(page * pageSize, count))"
  }

  private func collection(_ id: String, _ label: String, _ items: [JSONValue]) -> JSONValue {
    var result: JSONValue = [
      "@context": .text(PresentationManifest.context), "id": .text(id), "type": "Collection",
      "label": PresentationManifest.text(label), "items": .list(items),
    ]
    if let provider = identity.provider { result["provider"] = [provider.json] }
    return result
  }
}
