package import ZigguratFiles

/// Images with damaged archives, to be rebuilt from unchanged sources.
package struct RebuildList: Sendable {
  /// The digests of the sources' content, by image id.
  private let digests: [ImageID: String]
  /// The same digests by the ids of the sources that contain the images as pages.
  private let sources: [ImageID: Set<String>]

  /// - Parameter digests: the digests of the sources' content, by image id.
  package init(_ digests: [ImageID: String]) {
    self.digests = digests
    var sources: [ImageID: Set<String>] = [:]
    for (id, digest) in digests {
      for source in [id, id.folder].compactMap(\.self) { sources[source, default: []].insert(digest) }
    }
    self.sources = sources
  }

  /// Returns the sources that these images may come from, or that have them as pages.
  package func sources(among all: [SourceScan.Source]) -> [SourceScan.Source] {
    let there = Set(all.map(\.id))
    let wanted = Set(digests.keys.compactMap { there.contains($0) ? $0 : $0.folder })
    return all.filter { wanted.contains($0.id) }
  }

  func isOf(_ id: ImageID, _ digest: String) -> Bool { sources[id]?.contains(digest) ?? false }

  func asksFor(_ id: ImageID) -> Bool { digests[id] != nil }
}
