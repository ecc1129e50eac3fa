package import TileStorage
package import ZigguratFiles

/// The ids of the images that a build has seen in a library's sources. Only a build knows the pages of a source.
package struct SeenImages: Sendable {
  /// The ids by the paths of the sources.
  private var ids: [String: Set<ImageID>] = [:]
  /// Images whose ids belong to other sources, by the paths of the sources. An image of this source is kept.
  private var refused: [String: Set<ImageID>] = [:]
  /// Sources that failed before their pages were known, or may have lost pages, as truncated files.
  private var unknown: Set<String> = []
  private var claims: [ImageID: SourceRoot] = [:]

  package init() {}

  /// Forgets the images of sources that are about to be built again.
  package mutating func forget(_ sources: [SourceScan.Source]) {
    for source in sources {
      ids[source.path] = nil
      refused[source.path] = nil
      unknown.remove(source.path)
    }
  }

  /// - Parameters:
  ///   - image: the image in a report of `LibraryRun`: the source or a page of it.
  package mutating func add(
    _ image: SourceScan.Source, _ outcome: LibraryBuilder.Outcome, of source: SourceScan.Source
  ) {
    switch outcome {
    case .built, .outdated, .moved, .metadataUpdated, .unchanged: claims[image.id] = source.root
    case .wouldBuild, .wouldMove, .wouldUpdateMetadata, .failed, .refused, .withdrawn, .wouldWithdraw: break
    }
    if let damage = outcome.damage, damage.kind >= .truncated { unknown.insert(source.path) }
    switch outcome {
    case .withdrawn, .wouldWithdraw: break
    case .refused:
      ids[source.path, default: []].formUnion([])
      refused[source.path, default: []].insert(image.id)
    case .failed where image.id == source.id: unknown.insert(source.path)
    case .wouldMove(let former): ids[source.path, default: []].formUnion([image.id, former])
    case .failed, .built, .outdated, .moved, .metadataUpdated, .unchanged, .wouldBuild, .wouldUpdateMetadata:
      ids[source.path, default: []].insert(image.id)
    }
  }

  /// Returns the images that are in the library now, by the roots of their sources; each image once.
  package mutating func takeClaims() -> [ImageID: SourceRoot] {
    defer { claims = [:] }
    return claims
  }

  /// Whether the source is in the library under its id, or would be after a dry run.
  func has(_ source: SourceScan.Source) -> Bool { ids[source.path]?.contains(source.id) ?? false }

  /// Returns the images of a library that are kept for these sources.
  func kept(of sources: [SourceScan.Source]) -> Kept {
    var kept = Kept()
    let scanned = Set(sources.map(\.id))
    for source in sources {
      kept.ids.formUnion(ids[source.path] ?? [])
      // A page with the id of another of these sources is not an image of the library.
      kept.ids.formUnion((refused[source.path] ?? []).filter { $0 == source.id || !scanned.contains($0) })
      guard ids[source.path] == nil || unknown.contains(source.path) else { continue }
      kept.ids.insert(source.id)
      kept.books[source.id] = source.path.split(separator: "/").last.map(String.init)
    }
    return kept
  }

  struct Kept {
    var ids: Set<ImageID> = []
    /// The file names of sources with unknown pages, by the sources' ids. Their former images are kept.
    var books: [ImageID: String] = [:]

    func holds(_ id: ImageID, record: () -> BuildRecord?) -> Bool {
      if ids.contains(id) { return true }
      guard let name = id.folder.flatMap({ books[$0] }), let record = record() else { return false }
      return (record.page != nil || record.associatedAs != nil) && record.sourceName == name
    }
  }
}
