package import TileStorage
package import ZigguratFiles

/// The sources of a space's images, in its encrypted index. A rebuilt image has a new entry there, which no source has
/// claimed yet.
extension PrivateSpace: OriginStore {
  package func claim(_ images: [ImageID: SourceRoot]) throws(StorageError) {
    let known = try index().entries
    // Every change rewrites the whole index.
    guard images.contains(where: { id, root in known[id.text].map { $0.origin != root.text } ?? false })
    else {
      return
    }
    try change { (index) throws(StorageError) in
      for (id, root) in images { index.entries[id.text]?.origin = root.text }
      return []
    }
  }

  package func owners(of ids: [ImageID]?) throws(StorageError) -> [ImageID: String] {
    let entries = try index().entries
    let wanted = ids.map { $0.map(\.text) } ?? Array(entries.keys)
    var owners: [ImageID: String] = [:]
    for text in wanted {
      guard let origin = entries[text]?.origin, let id = ImageID(text) else { continue }
      owners[id] = origin
    }
    return owners
  }

  package func images(from roots: Set<SourceRoot>) throws(StorageError) -> [ImageID] {
    let wanted = Set(roots.map(\.text))
    return SpaceIndex.ids(try index().entries.filter { $0.value.origin.map(wanted.contains) ?? false })
  }
}
