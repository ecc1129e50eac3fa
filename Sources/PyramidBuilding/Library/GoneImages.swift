package import Files
import Synchronization
package import TileStorage

/// Images of a library whose sources are gone from where they were: a source that is new, and has the very content of
/// one of them, is that one under another name.
package final class GoneImages: Sendable {
  /// From what an image was made.
  struct Made: Hashable {
    /// Of the source's content.
    let digest: String
    /// Of a source of several pages, counted from 1.
    let page: Int?
    /// What it is of a slide.
    let associatedAs: String?
  }

  private let ids: @Sendable () -> [ImageID]
  private let store: any ArchiveStore
  /// Sorted; nil before somebody asks.
  private let images = Mutex<[Made: [ImageID]]?>(nil)

  /// - Parameters:
  ///   - scan: of all the sources of this run.
  ///   - candidates: images that came from the scan's roots, asked for when a source is new.
  package init(
    of scan: SourceScan, in store: any ArchiveStore, among candidates: @escaping @Sendable () -> [ImageID]
  ) {
    self.store = store
    let sources = scan.sources
    ids = {
      let there = Set(sources.map(\.id))
      // What a source of that name has as a page may come yet.
      return candidates().filter { id in
        !there.contains(id) && !(id.folder.map(there.contains) ?? false)
      }
    }
  }

  /// The image that was made from this content, nobody's any more; the one whose name is the most like the new one's
  /// where there are several.
  func take(_ made: Made, for id: ImageID) -> ImageID? {
    images.withLock { images in
      if images == nil { images = read() }
      guard let found = images?[made], !found.isEmpty else { return nil }
      let at = found.firstIndex { $0.name == id.name } ?? found.firstIndex { $0.folder == id.folder } ?? 0
      return images?[made]?.remove(at: at)
    }
  }

  private func read() -> [Made: [ImageID]] {
    var images: [Made: [ImageID]] = [:]
    for id in ids().sorted() {
      guard let record = store.buildRecord(ofSoundID: id) else { continue }
      let made = Made(
        digest: record.sourceDigest, page: record.page, associatedAs: record.associatedAs)
      images[made, default: []].append(id)
    }
    return images
  }
}
