import Glibc
import PyramidBuilding
import TileStorage

/// Which files a library's pictures were made from, by their digests, so that the same picture is not built
/// twice. Read from the archives' build records, each once.
struct KnownSources {
  private struct Archive {
    let identity: FileIdentity
    let digest: String?
  }

  private let library: String
  private var archives: [String: Archive] = [:]

  init(library: String) { self.library = library }

  /// Of a file's content, as build records have it.
  func digest(of path: String) throws(BuildError) -> String { try SourceInspection.digest(path: path) }

  /// The id of the picture that was made from such a file; that of the book where it has several pages.
  mutating func image(_ digest: String) -> String? {
    guard let paths = try? FolderTree.archives(at: library) else { return nil }
    var fresh: [String: Archive] = [:]
    for path in paths {
      var status = stat()
      guard stat(path, &status) == 0 else { continue }
      let identity = FileIdentity(status)
      if let old = archives[path], old.identity == identity {
        fresh[path] = old
      } else {
        fresh[path] = Archive(
          identity: identity, digest: (try? SZIArchive(path: path))?.buildRecord?.sourceDigest)
      }
    }
    archives = fresh
    guard let found = paths.first(where: { fresh[$0]?.digest == digest }) else { return nil }
    let id = String(found.dropFirst(library.count + 1).dropLast(4))
    let isPage = (try? SZIArchive(path: found))?.buildRecord?.page != nil
    return isPage ? parentFolder(id) : id
  }
}
